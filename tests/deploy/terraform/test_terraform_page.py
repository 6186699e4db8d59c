"""The page about Terraform and CDK: its programs, read or run."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
from pathlib import Path

import pytest

from local.alarms.template import load, load_template
from neuron_emf.deploy.package import Package, read_template
from tests.docs.shown_blocks import blocks_of

ROOT = Path(__file__).resolve().parents[3]
PAGE = ROOT / "docs/how-to/terraform.md"
CDK = ("aws-cdk-lib@2.276.0", "constructs@10.8.1")
OF_CDK = {("Parameters", "BootstrapVersion"), ("Rules", "CheckBootstrapVersion")}


def shown(language):
    """The block of the page in *language*."""
    (block,) = [one for one in blocks_of(PAGE) if one.language == language]
    return block.text


def test_the_module_knows_what_the_page_gives_and_reads():
    """Each argument is a variable, each attribute an output."""
    module = "".join(path.read_text("utf-8") for path in (ROOT / "deploy/terraform").glob("*.tf"))
    given, attachment = shown("hcl").split("\nresource ")
    arguments = set(re.findall(r"^  (\w+) +=", given, re.MULTILINE)) - {"source"}
    assert {"release", "bucket", "alarm_email"} < arguments
    assert arguments <= set(re.findall(r'^variable "(\w+)"', module, re.MULTILINE))
    (read,) = re.findall(r"module\.neuron_emf\.(\w+)", attachment)
    assert f'output "{read}"' in module


def differences(expected, found, place=()):
    """Where two documents differ, as paths."""
    if isinstance(expected, dict) and isinstance(found, dict):
        for name in {*expected, *found}:
            if name in expected and name in found:
                yield from differences(expected[name], found[name], (*place, name))
            else:
                yield (*place, name)
    elif expected != found:
        yield place


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm was not found: no CDK")
@pytest.mark.bench  # asks npm's registry for 100 MB
@pytest.mark.timeout(600)
def test_cdk_deploys_the_template_and_the_parameter_that_the_program_sets(tmp_path):
    """Nothing else differs but where the functions are, and CDK's check of its bootstrap."""
    Package(read_template(ROOT / "template.yaml"), b"functions").write(tmp_path / "release")
    words = ["npm", "install", "--no-audit", "--no-fund", "--ignore-scripts", *CDK]
    subprocess.run(words, cwd=tmp_path, check=True, capture_output=True)
    program = shown("javascript").replace("new App()", "new App({ outdir: 'out' })")
    (tmp_path / "app.js").write_text(program, "utf-8")
    subprocess.run(["node", "app.js"], cwd=tmp_path, check=True, capture_output=True)
    expected = load((tmp_path / "release/template.yaml").read_text("utf-8"))
    made = json.loads((tmp_path / "out/neuron-emf.template.json").read_text("utf-8"))
    functions = {
        ("Resources", name, "Properties", "CodeUri")
        for name, one in load_template(ROOT / "template.yaml")["Resources"].items()
        if one["Type"] == "AWS::Serverless::Function"
    }
    parameter = {("Parameters", "AlarmEmail", "Default")}
    assert functions | parameter | OF_CDK == set(differences(expected, made))
