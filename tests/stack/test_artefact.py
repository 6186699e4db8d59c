"""
What sam build made: what would be uploaded, imported as Lambda imports it.

Needs .aws-sam/build, which make test makes first; see --built.
"""

from __future__ import annotations

import filecmp
import os
import shutil
import subprocess
import sys
from pathlib import Path

import boto3
import pytest

FUNCTIONS = ["IngestFunction", "CloseFunction"]
HANDLERS = {"IngestFunction": "aggregator.ingest", "CloseFunction": "aggregator.close"}
PYTHONS = ["python3.10", "python3.11", "python3.12", "python3.13", "python3.14"]

# What the Lambda runtime brings, so that the artefact need not.
OF_THE_RUNTIME = ["boto3", "botocore", "dateutil", "s3transfer", "six.py", "urllib3"]

IMPORT = """
import importlib, json, sys
before = set(sys.modules)
sys.path[:0] = [sys.argv[1], sys.argv[2]]
module = importlib.import_module(sys.argv[3])
assert callable(module.handler)
json.dump(sorted({name.partition(".")[0] for name in set(sys.modules) - before}), sys.stdout)
"""

pytestmark = [pytest.mark.slow, pytest.mark.timeout(60)]


def files(folder):
    """
    Every file of a folder, relative to it.
    """
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="session")
def built(repository, request):
    """
    The folder that sam build made, no older than its source.
    """
    build = repository / ".aws-sam" / "build"
    reason = None
    for name in FUNCTIONS:
        for package in ("aggregator", "neuron_wire"):
            made, source = build / name / package, repository / "lambda" / package
            if not made.is_dir():
                reason = f".aws-sam/build has no {name}: make build makes it"
            elif differences(source, made):
                reason = f".aws-sam/build is older than lambda/{package}: make build renews it"
    if reason and request.config.getoption("--built"):
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    return build


def differences(source, made):
    """
    Source files that are missing or different in what was made.
    """
    expected = {path for path in files(source) if "__pycache__" not in path.parts}
    same, _, _ = filecmp.cmpfiles(source, made, [str(path) for path in expected], shallow=False)
    return expected - {Path(path) for path in same}


@pytest.fixture(scope="session")
def runtime_libraries(tmp_path_factory):
    """
    A folder with the libraries of the Lambda runtime and nothing else.
    """
    folder = tmp_path_factory.mktemp("runtime")
    installed = Path(boto3.__file__).resolve().parent.parent
    for name in OF_THE_RUNTIME:
        (folder / name).symlink_to(installed / name)
    return folder


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_artefact_holds_no_compiled_file(built, function):
    """
    So one build runs on every runtime and on both architectures.
    """
    suffixes = {path.suffix for path in files(built / function)}
    assert set() == suffixes & {".so", ".pyc", ".pyd", ".dylib", ".a"}


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_artefact_holds_the_functions_and_their_pins_only(built, function):
    """
    No tests, no Makefile, nothing of the emitter, no script, no boto3.
    """
    top = {path.name for path in (built / function).iterdir()}
    packages = {name for name in top if not name.endswith(".dist-info")}
    expected = {"aggregator", "neuron_wire", "aws_lambda_powertools", "jmespath"}
    assert expected | {"typing_extensions.py"} == packages


@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_artefact_does_not_say_where_it_was_built(built, function):
    """
    The same source gives the same bytes on every machine.
    """
    names = {path.name for path in files(built / function)}
    assert set() == names & {"RECORD", "INSTALLER", "REQUESTED", "direct_url.json"}


def test_both_functions_have_the_same_artefact(built):
    """
    Built twice in two folders, byte for byte the same: nothing depends on the run.
    """
    ingest, close = (built / name for name in FUNCTIONS)
    assert files(ingest) == files(close)
    _, different, unreadable = filecmp.cmpfiles(
        ingest, close, [str(path) for path in files(ingest)], shallow=False
    )
    assert [] == different + unreadable


@pytest.mark.parametrize("python", [Path(sys.executable).name, *PYTHONS])
@pytest.mark.parametrize("function", FUNCTIONS)
def test_the_artefact_imports_as_in_lambda(built, runtime_libraries, function, python):
    """
    With the artefact and the runtime's own libraries alone, on every Python at hand.
    """
    interpreter = sys.executable if python == Path(sys.executable).name else shutil.which(python)
    if interpreter is None or subprocess.run([interpreter, "-c", ""], check=False).returncode:
        pytest.skip(f"this machine has no {python}")
    arguments = [str(built / function), str(runtime_libraries), HANDLERS[function]]
    run = subprocess.run(
        [interpreter, "-I", "-S", "-B", "-c", IMPORT, *arguments],
        cwd=built / function,
        env={"PATH": os.environ["PATH"], "AWS_DEFAULT_REGION": "us-east-1"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert run.returncode == 0, run.stderr
    assert '"neuron_wire"' in run.stdout
