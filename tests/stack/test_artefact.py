"""
What sam build made: what would be uploaded, imported as Lambda imports it.

Needs .aws-sam/build, which make test makes first; see --built.
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
    """One of the artefacts, which are all the same."""
    return built / "IngestFunction"


def test_the_artefact_holds_no_compiled_file(artefact):
    """One build runs on every offered Python and on both architectures."""
    suffixes = {path.suffix for path in files(artefact)}
    assert set() == suffixes & {".so", ".pyc", ".pyd", ".dylib", ".a"}


def test_the_artefact_holds_the_functions_and_their_pins_only(artefact):
    """No tests, no Makefile, nothing of the emitter, no script, no boto3."""
    top = {path.name for path in artefact.iterdir()}
    packages = {name for name in top if not name.endswith(".dist-info")}
    expected = {"aggregator", "aws_lambda_powertools", "jmespath"}
    expected |= {"neuron_accounts", "neuron_wire", "neuron_words"}
    assert expected | {"typing_extensions.py"} == packages


def test_all_functions_have_the_same_artefact(built, artefact, repository):
    """Each is built in a folder of its own, byte for byte the same."""
    for name in handlers(repository):
        assert files(artefact) == files(built / name)
        assert set() == differences(artefact, built / name)


@pytest.mark.parametrize("version", OFFERED_PYTHONS)
def test_the_artefact_imports_as_in_lambda(artefact, repository, runtime_libraries, version):
    """Every handler, with the artefact and the runtime's own libraries alone, on each Python."""
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
