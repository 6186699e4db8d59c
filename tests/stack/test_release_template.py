"""
The one template of a release: what the clone deploys, in a form that every region takes and the
Serverless Application Repository, too.

Its rules: https://docs.aws.amazon.com/serverlessrepo/latest/devguide/using-aws-sam.html and
https://docs.aws.amazon.com/serverless-application-model/latest/developerguide/serverless-sam-template-publishing-applications-metadata-properties.html
"""

from __future__ import annotations

import json
import re

import pytest

from local.alarms.template import load
from neuron_emf.deploy.package import Package
from tests.programs import run_program
from tests.stack.stack_template import release_template

MAX_TEMPLATE_BYTES = 1_000_000  # in S3, says CloudFormation


@pytest.fixture(scope="module")
def text(repository):
    """As `make release` writes it."""
    return release_template(repository / "template.yaml")


@pytest.fixture(scope="module")
def release(text):
    """With its functions unresolved."""
    return load(text)


def test_it_needs_one_transform_and_names_no_partition(text, release):
    """GovCloud and China have no AWS::Include; publishing takes SAM's transform alone."""
    assert "AWS::Serverless-2016-10-31" == release["Transform"]
    assert not re.search(r"Fn::Transform|AWS::Include|Fn::ForEach|arn:aws:", text)


def test_what_is_deployed_reads_no_file_of_the_clone(text):
    """Nor is it too large; what is published has the functions' zip beside it and two files."""
    assert {"CodeUri: functions.zip"} == set(re.findall(r"CodeUri: \S+", text))
    deployed = Package(text, b"zip").template("s3://bucket/code.zip")
    assert {"CodeUri: s3://bucket/code.zip"} == set(re.findall(r"CodeUri: \S+", deployed))
    assert not re.search("ServerlessRepo|LICENSE|README", deployed)
    assert len(deployed.encode()) < MAX_TEMPLATE_BYTES


@pytest.mark.parametrize("mode", ["direct", "kinesis"])
def test_a_release_makes_what_the_clone_makes(text, repository, program_of, tmp_path, mode):
    """`sam deploy` and `neuron-emf deploy`, by AWS's own translator; each function has its code."""
    python = program_of(".venv-sam", "python")
    package = Package(text, b"zip")
    written, _ = package.write_release(tmp_path)
    stated = written.read_text("utf-8")
    assert stated.count(f"CodeUri: {package.functions_key}\n") == stated.count("::Serverless::F")
    found = []
    for path in (repository / "template.yaml", written):
        run = run_program(
            [python, "-B", "tests/stack/translation.py", path, f"Mode={mode}"], cwd=repository
        )
        assert run.returncode == 0, run.stderr
        found.append(json.loads(re.sub(r'\{\s*"Ref": "Architecture"\s*\}', '"arm64"', run.stdout)))
    clone, release = found
    del clone["Parameters"]["Architecture"]
    for template in found:  # a file of the clone, the public page of the release
        del template["Mappings"]["Defaults"]["Release"]["Runbook"]
    for section in ("Resources", "Parameters", "Conditions", "Mappings", "Outputs"):
        assert clone[section] == release[section], section


@pytest.mark.slow
@pytest.mark.parametrize("name", ["release", "emitters.yaml", "deploy/ecs/service.yaml"])
def test_cfn_lint_finds_nothing_in_any_region(name, program_of, text, repository, tmp_path):
    """As SAM brings it; `sam validate --lint` reads neither these nor what the clone includes."""
    path = repository / name
    if name == "release":
        path = tmp_path / "template.yaml"
        path.write_text(text, "utf-8")
    words = ("--non-zero-exit-code", "informational", "--regions", "ALL_REGIONS", "--", path)
    found = run_program([program_of(".venv-sam", "cfn-lint"), *words])
    assert 0 == found.returncode
    assert "" == found.stdout
