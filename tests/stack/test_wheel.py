"""The wheel that instances install: its content, and the program that runs from it alone."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import zipfile

import pytest

import neuron_emitter
from neuron_emf.deploy.package import EMITTERS, FUNCTIONS_NAME, TEMPLATE_NAME
from tests.programs import run_program
from tests.stack.stack_template import release_template

pytestmark = [pytest.mark.slow]
PIP = [sys.executable, "-m", "pip", "--disable-pip-version-check", "--quiet"]


@pytest.fixture(scope="session")
def wheel(repository, tmp_path_factory):
    """Return the wheel, built from a copy because setuptools leaves files next to its source."""
    source = tmp_path_factory.mktemp("source")
    for name in ("pyproject.toml", "README.md", "LICENSE"):
        shutil.copy(repository / name, source)
    for name in ("emitter", "lambda", "local", "neuron_emf", "tests"):
        ignored = shutil.ignore_patterns("__pycache__")
        shutil.copytree(repository / name, source / name, ignore=ignored)
    # as `make wheel`, which also removes these files
    template = release_template(repository / "template.yaml")
    (source / "neuron_emf" / "deploy" / TEMPLATE_NAME).write_text(template, "utf-8")
    (source / "neuron_emf" / "deploy" / FUNCTIONS_NAME).write_bytes(b"zip")
    shutil.copy(repository / EMITTERS, source / "neuron_emf" / "deploy")
    folder = tmp_path_factory.mktemp("wheel")
    command = [*PIP, "wheel", "--no-deps", "--no-build-isolation", "--wheel-dir", str(folder), "."]
    run = run_program(command, cwd=source)
    assert run.returncode == 0, run.stderr
    (path,) = folder.glob("*.whl")
    return path


@pytest.fixture(scope="session")
def installed(wheel, tmp_path_factory):
    """Return a folder with only the wheel's content."""
    folder = tmp_path_factory.mktemp("installed")
    command = [*PIP, "install", "--no-deps", "--no-index", "--target", str(folder), str(wheel)]
    subprocess.run(command, check=True, capture_output=True)
    return folder


def test_the_wheel_holds_its_packages_and_nothing_else(wheel, repository):
    """
    The wheel has every module of the five packages with type markers, and neither aggregator,
    rehearsal nor tests.
    """
    with zipfile.ZipFile(wheel) as archive:
        names = {name for name in archive.namelist() if ".dist-info/" not in name}
    expected = {
        path.relative_to(root).as_posix()
        for root, package in (
            (repository / "emitter", "neuron_emitter"),
            (repository, "neuron_emf"),
            (repository / "lambda", "neuron_accounts"),
            (repository / "lambda", "neuron_wire"),
            (repository / "lambda", "neuron_words"),
        )
        for path in (root / package).rglob("*")
        if path.is_file() and "__pycache__" not in path.parts
    }
    carried = {f"neuron_emf/deploy/{name}" for name in (EMITTERS, FUNCTIONS_NAME, TEMPLATE_NAME)}
    assert expected | carried == names
    assert 5 == sum(name.endswith("/py.typed") for name in names)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["--version"], neuron_emitter.__version__),
        (["deploy", "--write-template", "out"], "out"),
        (["deploy", "--emitters-only", "--plan"], "AWS::CloudWatch::Alarm"),
        (["cost", "--instances", "1"], "USD a month"),
    ],
    ids=lambda words: words[0] if isinstance(words, list) else "",
)
def test_the_program_runs_from_the_wheel_alone(installed, tmp_path, words, expected):
    """The program runs outside this tree with its modules, template, zip and prices."""
    run = run_program(
        [sys.executable, "-m", "neuron_emf", *words],
        cwd=tmp_path,
        env={"PATH": os.environ["PATH"], "PYTHONPATH": str(installed)},
    )
    assert run.returncode == 0, run.stderr
    assert expected in run.stdout
