"""What make says, and what it answers on a machine that lacks something."""

from __future__ import annotations

import importlib.util
import re
import shutil
import sys

import pytest

from tests.programs import run_program


def make(folder, *arguments):
    """Run make in a folder as from a plain shell."""
    return run_program(
        ["make", "--no-print-directory", *arguments],
        cwd=folder,
        env={"PATH": "/usr/local/bin:/usr/bin:/bin"},
    )


@pytest.fixture
def environment(repository):
    """The script that makes environments, as a module."""
    path = repository / "requirements" / "environment.py"
    spec = importlib.util.spec_from_file_location("environment_script", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_make_alone_says_what_there_is_to_make(repository):
    """Every target that is meant for people is in it."""
    shown = make(repository).stdout
    text = (repository / "Makefile").read_text(encoding="utf-8")
    targets = set(" ".join(re.findall(r"^\.PHONY: (.+)$", text, re.MULTILINE)).split())
    assert {"help"} == targets - set(re.findall(r"^make ([a-z-]+)", shown, re.MULTILINE))


def test_every_function_of_the_template_has_a_build_target(repository, template):
    """SAM asks for build-NAME and stops when there is none."""
    text = (repository / "lambda" / "Makefile").read_text(encoding="utf-8")
    built = {
        name
        for name, resource in template["Resources"].items()
        if resource.get("Metadata") == {"BuildMethod": "makefile"}
    }
    functions = {
        name
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }
    assert functions == built
    assert functions == set(re.findall(r"build-(\w+)", text))


def test_clean_removes_what_is_made_and_nothing_else(repository, tmp_path):
    """In every folder what .gitignore names, and no file of somebody's own."""
    for name in ("Makefile", ".gitignore"):
        shutil.copy(repository / name, tmp_path)
    made = [".coverage", ".venv-tools/bin/uv", "build/x", "proof/a/__pycache__/b.pyc",
            "deploy/.ruff_cache/x", "tests/.hypothesis/y z", "x.egg-info/PKG-INFO"]  # fmt: skip
    own = ["Makefile", "notes.txt", "proof/a/mine.py"]
    for name in (*made, *own[1:]):
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / name).touch()
    assert 0 == run_program(["git", "init", "--quiet"], cwd=tmp_path).returncode
    assert 0 == make(tmp_path, "clean").returncode
    assert [] == [name for name in made if (tmp_path / name).exists()]
    assert [] == [name for name in own if not (tmp_path / name).exists()]


def test_a_missing_python_says_what_to_do(repository):
    """Before anything is made."""
    run = make(repository, "--always-make", ".venv-tools/.ready", "PYTHON=no-such-python")
    assert run.returncode != 0
    assert "no-such-python was not found: expected Python 3.10 or later" in run.stderr


def test_a_python_that_is_too_old_says_what_to_do(environment, monkeypatch):
    """3.10 is the first that will do."""
    monkeypatch.setattr(sys, "version_info", (3, 10))
    environment.require_python()
    monkeypatch.setattr(sys, "version_info", (3, 9, 99))
    with pytest.raises(environment.MachineError, match=r"expected 3\.10 or later; name one"):
        environment.require_python()


def test_a_python_without_venv_says_what_to_install(environment, monkeypatch):
    """Debian has it in a package of its own."""
    monkeypatch.setitem(sys.modules, "ensurepip", None)
    with pytest.raises(environment.MachineError, match="apt install python3-venv"):
        environment.require_python()
