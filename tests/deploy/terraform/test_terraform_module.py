"""
The Terraform module: generated from the template, and what it would deploy.

Terraform itself computes parameters and template here, and validates the module if the AWS provider
is on the machine; `proof.real.terraform` makes the resources.
"""

from __future__ import annotations

import importlib.util
import json
import re
import shutil

import pytest

from local import REPOSITORY
from local.alarms.template import load
from neuron_emf.deploy.package import Package
from proof.real import terraform
from tests.programs import run_program
from tests.stack.stack_template import release_template

pytestmark = [pytest.mark.slow]

MODULE = REPOSITORY / "deploy/terraform"
_SPEC = importlib.util.spec_from_file_location("module", MODULE / "module.py")
script = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(script)

RELEASE_TEXT = release_template(REPOSITORY / "template.yaml")
RELEASED_TEMPLATE = load(RELEASE_TEXT)
READ = "import hcl2, json, sys; print(json.dumps([hcl2.load(open(path)) for path in sys.argv[1:]]))"
needs_terraform = pytest.mark.skipif(
    shutil.which("terraform") is None, reason="terraform was not found"
)


@pytest.fixture(scope="module")
def parsed(program_of):
    """Return all blocks of the module's HCL files by type."""
    python = program_of(".venv-tools", "python")
    files = sorted(MODULE.glob("*.tf"))
    ended = run_program([python, "-c", READ, *map(str, files)])
    assert 0 == ended.returncode, ended.stderr
    blocks = {}
    for file in json.loads(ended.stdout):
        for block_type, bodies in file.items():
            blocks.setdefault(block_type, []).extend(bodies)
    return blocks


def names(blocks):
    """Return the labels of blocks, without the quotation marks that the parser keeps."""
    return [name.strip('"') for block in blocks for name in block if not name.startswith("__")]


def test_variables_and_outputs_are_those_of_the_template():
    """deploy/terraform/module.py writes the committed variables and outputs from the template."""
    assert script.variables(RELEASED_TEMPLATE) == (MODULE / "variables.tf").read_text("utf-8")
    assert script.outputs(RELEASED_TEMPLATE) == (MODULE / "outputs.tf").read_text("utf-8")


def test_the_proof_sets_variables_of_the_module(tmp_path):
    """Each variable that the proof sets is the module's own; a release has no architecture."""
    (tmp_path / "template.yaml").write_text(RELEASE_TEXT, "utf-8")
    text = script.variables(RELEASED_TEMPLATE)
    declared = set(re.findall(r'^variable "(\w+)"', text, re.MULTILINE))
    assert declared >= terraform.variables(tmp_path).keys() - {"release", "bucket"}


def test_it_is_hcl_and_each_variable_is_used(parsed):
    """A parser other than Terraform's reads the module, and each variable is used."""
    text = "".join(path.read_text("utf-8") for path in MODULE.glob("*.tf"))
    declared = names(parsed["variable"])
    assert len(set(declared)) == len(declared)
    assert set(declared) == set(re.findall(r"\bvar\.(\w+)", text))
    assert ["data.aws_s3_bucket.release"] == sorted(set(re.findall(r"\bdata\.\w+\.\w+", text)))
    assert {"aws_s3_object", "aws_cloudformation_stack"} == set(names(parsed["resource"]))


@needs_terraform
def test_it_is_written_as_terraform_writes_it():
    """`terraform fmt` would change nothing."""
    ended = run_program(["terraform", "fmt", "-check", "-diff", str(MODULE)])
    assert 0 == ended.returncode
    assert "" == ended.stdout


@needs_terraform
@pytest.mark.skipif(terraform.mirror() is None, reason="the provider hashicorp/aws was not found")
def test_the_provider_of_aws_accepts_the_module(tmp_path):
    """`terraform validate` finds no fault with the provider's own schema."""
    terraform.initialize(tmp_path / "module")
    ended = terraform.terraform(tmp_path / "module", "validate", "-json")
    assert [] == json.loads(ended.stdout)["diagnostics"]


@pytest.fixture
def evaluate(tmp_path):
    """
    Return a function that returns the module's locals under these variables, or Terraform's error.
    """
    for name in ("release.tf", "variables.tf"):
        shutil.copy(MODULE / name, tmp_path)
    (tmp_path / "shown.tf").write_text(
        "".join(
            f'output "{name}" {{\n  value = local.{name}\n}}\n'
            for name in ("parameters", "template", "template_key", "functions_key")
        )
    )

    def run(*words):
        return terraform.terraform(tmp_path, *words)

    assert 0 == run("init", "-input=false").returncode

    def evaluated(**given):
        words = [f"-var={name}={value}" for name, value in given.items()]
        ended = run("apply", "-auto-approve", "-input=false", "-no-color", *words)
        if ended.returncode:
            return " ".join(ended.stderr.split())
        shown = json.loads(run("output", "-json").stdout)
        return {name: output["value"] for name, output in shown.items()}

    return evaluated


@needs_terraform
def test_it_deploys_what_neuron_emf_deploy_would(evaluate, tmp_path):
    """
    The module deploys the same template under the same names, with each parameter at its default
    unless it is set, and refuses what CloudFormation would refuse.
    """
    package = Package(RELEASE_TEXT, b"functions")
    folder = tmp_path / "release"
    Package(package.source, b"of an earlier release").write_release(folder)
    package.write_release(folder)
    given = {"release": str(folder), "bucket": "artefacts"}
    locals_ = evaluate(**given, mode="kinesis", chat="true", idle_after_minutes="20")
    functions_key = f"neuron-emf/{package.functions_key}"
    assert functions_key == locals_["functions_key"]
    assert package.template(f"s3://artefacts/{functions_key}") == locals_["template"]
    defaults = {
        name: str(parameter["Default"])
        for name, parameter in RELEASED_TEMPLATE["Parameters"].items()
    }
    expected = {**defaults, "Mode": "kinesis", "Chat": "true", "IdleAfterMinutes": "20"}
    assert expected == locals_["parameters"]
    assert "Mode must be one of direct, kinesis, drain." in evaluate(**given, mode="both")
    assert "IdleAfterMinutes must be from 1 to 1440." in evaluate(**given, idle_after_minutes="0")
