"""
The output of sam build: what would be uploaded, imported as Lambda imports it.

It needs .aws-sam/build, which make test makes first; see --built.
"""

from __future__ import annotations

import os

import pytest

from tests.built_artefact import differences, files, handlers
from tests.programs import run_program
from tests.runtime.function_process import interpreter_of

OFFERED_PYTHONS = [f"3.{minor}" for minor in range(10, 15)]

IMPORT = """
import importlib, json, sys
before = set(sys.modules)
sys.path[:0] = [sys.argv[1], sys.argv[2]]
for name in sys.argv[3:]:
    assert callable(importlib.import_module(name).handler)
json.dump(sorted({name.partition(".")[0] for name in set(sys.modules) - before}), sys.stdout)
"""

pytestmark = [pytest.mark.slow]


@pytest.fixture
def artefact(built):
    """Return one of the artefacts, which are equal."""
    return built / "IngestFunction"


def test_the_artefact_holds_no_compiled_file(artefact):
    """
    The artefact has no compiled file, so that one build runs on every Python and architecture.
    """
    suffixes = {path.suffix for path in files(artefact)}
    assert set() == suffixes & {".so", ".pyc", ".pyd", ".dylib", ".a"}


def test_the_artefact_holds_the_functions_and_their_pins_only(artefact):
    """The artefact has neither tests, Makefile, emitter, scripts nor boto3."""
    top = {path.name for path in artefact.iterdir()}
    packages = {name for name in top if not name.endswith(".dist-info")}
    expected = {"aggregator", "aws_lambda_powertools", "jmespath"}
    expected |= {"neuron_accounts", "neuron_wire", "neuron_words"}
    assert expected | {"typing_extensions.py"} == packages


def test_all_functions_have_the_same_artefact(built, artefact, repository):
    """
    Artefacts of all functions are equal byte for byte, although each is built in its own folder.
    """
    for name in handlers(repository):
        assert files(artefact) == files(built / name)
        assert set() == differences(artefact, built / name)


@pytest.mark.parametrize("version", OFFERED_PYTHONS)
def test_the_artefact_imports_as_in_lambda(artefact, repository, runtime_libraries, version):
    """Every handler imports on each Python with only the artefact and the runtime's libraries."""
    interpreter = interpreter_of(version)
    if interpreter is None:
        pytest.skip(f"this machine has no Python {version}")
    modules = [handler.rpartition(".")[0] for handler in handlers(repository).values()]
    arguments = [str(artefact), str(runtime_libraries), *modules]
    run = run_program(
        [interpreter, "-I", "-S", "-B", "-c", IMPORT, *arguments],
        cwd=artefact,
        env={"PATH": os.environ["PATH"], "AWS_DEFAULT_REGION": "us-east-1"},
    )
    assert run.returncode == 0, run.stderr
    assert '"neuron_wire"' in run.stdout
