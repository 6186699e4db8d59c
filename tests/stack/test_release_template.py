"""
The template of a release: it deploys what the clone deploys, in a form for every region and for the
Serverless Application Repository.

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

MAX_TEMPLATE_BYTES = 1_000_000  # CloudFormation's limit for a template in S3


@pytest.fixture(scope="module")
def text(repository):
    """Return the template as `make release` writes it."""
    return release_template(repository / "template.yaml")


@pytest.fixture(scope="module")
def release(text):
    """Return the template with unresolved functions."""
    return load(text)


def test_it_needs_one_transform_and_names_no_partition(text, release):
    """
    The template needs one transform, because GovCloud and China have no AWS::Include and publishing
    takes only SAM's.
    """
    assert "AWS::Serverless-2016-10-31" == release["Transform"]
    assert not re.search(r"Fn::Transform|AWS::Include|Fn::ForEach|arn:aws:", text)


def test_what_is_deployed_reads_no_file_of_the_clone(text):
    """
    The template reads no file of the clone and is small enough; publishing adds the functions' zip
    and two files.
    """
    assert {"CodeUri: functions.zip"} == set(re.findall(r"CodeUri: \S+", text))
    deployed = Package(text, b"zip").template("s3://bucket/code.zip")
    assert {"CodeUri: s3://bucket/code.zip"} == set(re.findall(r"CodeUri: \S+", deployed))
    assert not re.search("ServerlessRepo|LICENSE|README", deployed)
    assert len(deployed.encode()) < MAX_TEMPLATE_BYTES


@pytest.mark.parametrize("mode", ["direct", "kinesis"])
def test_a_release_makes_what_the_clone_makes(text, repository, program_of, tmp_path, mode):
    """
    `sam deploy` and `neuron-emf deploy` make the same resources, and each function has its code.
    """
    python = program_of(".venv-sam", "python")
    package = Package(text, b"zip")
    written, _ = package.write_release(tmp_path)
    stated = written.read_text("utf-8")
    assert stated.count(f"CodeUri: {package.functions_key}\n") == stated.count("::Serverless::F")
    translations = []
    for path in (repository / "template.yaml", written):
        run = run_program(
            [python, "-B", "tests/stack/translation.py", path, f"Mode={mode}"], cwd=repository
        )
        assert run.returncode == 0, run.stderr
        translations.append(
            json.loads(re.sub(r'\{\s*"Ref": "Architecture"\s*\}', '"arm64"', run.stdout))
        )
    clone, release = translations
    del clone["Parameters"]["Architecture"]
    for template in translations:  # a file of the clone, and the release's public page
        del template["Mappings"]["Defaults"]["Release"]["Runbook"]
    for section in ("Resources", "Parameters", "Conditions", "Mappings", "Outputs"):
        assert clone[section] == release[section], section


@pytest.mark.slow
@pytest.mark.parametrize("name", ["release", "emitters.yaml", "deploy/ecs/service.yaml"])
def test_cfn_lint_finds_nothing_in_any_region(name, program_of, text, repository, tmp_path):
    """
    cfn-lint, as SAM installs it, finds nothing; `sam validate --lint` reads neither these templates
    nor included files.
    """
    path = repository / name
    if name == "release":
        path = tmp_path / "template.yaml"
        path.write_text(text, "utf-8")
    words = ("--non-zero-exit-code", "informational", "--regions", "ALL_REGIONS", "--", path)
    run = run_program([program_of(".venv-sam", "cfn-lint"), *words])
    assert 0 == run.returncode
    assert "" == run.stdout
