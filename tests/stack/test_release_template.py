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

import emitter
from local.alarms.template import load
from neuron_emf.deploy.package import Package
from tests.programs import run_program
from tests.stack.stack_template import release_template

TAKEN = {
    "AWS::Athena::NamedQuery", "AWS::CloudFormation::CustomResource", "AWS::CloudWatch::Alarm",
    "AWS::CloudWatch::Dashboard", "AWS::DynamoDB::Table", "AWS::Events::Rule",
    "AWS::Glue::Database", "AWS::Glue::Table", "AWS::IAM::ManagedPolicy", "AWS::IAM::Policy",
    "AWS::IAM::Role", "AWS::Kinesis::Stream", "AWS::Lambda::EventSourceMapping",
    "AWS::Lambda::Function", "AWS::Lambda::Permission", "AWS::Logs::LogGroup",
    "AWS::Logs::MetricFilter", "AWS::Logs::SubscriptionFilter", "AWS::S3::Bucket",
    "AWS::S3::BucketPolicy", "AWS::SNS::Subscription", "AWS::SNS::Topic", "AWS::SNS::TopicPolicy",
    "AWS::SQS::Queue", "AWS::SQS::QueuePolicy", "AWS::Serverless::Function",
}  # fmt: skip
"""Of AWS's list of supported resources, as last kept in public: 2021-02 to 2023-06."""

SAVED_QUERY = "AWS::Logs::QueryDefinition"
MAX_TEMPLATE_BYTES = 1_000_000  # in S3, says CloudFormation


@pytest.fixture(scope="module")
def text(repository):
    """As `make release` writes it."""
    return release_template(repository / "template.yaml")


@pytest.fixture(scope="module")
def release(text):
    """With its functions unresolved."""
    return load(text)


def test_the_metadata_are_what_the_repository_publishes(release, repository):
    """Each within its pattern and length; without a license and a version nothing is public."""
    found = release["Metadata"]["AWS::ServerlessRepo::Application"]
    assert re.fullmatch(r"[a-zA-Z0-9\-]{1,140}", found["Name"])
    assert 1 <= len(found["Description"]) <= 256
    assert re.fullmatch(r"[a-z0-9](([a-z0-9]|-(?!-))*[a-z0-9])?", found["Author"])
    assert all(re.fullmatch(r"[a-zA-Z0-9+\-_:/@]{1,127}", one) for one in found["Labels"])
    assert len(found["Labels"]) <= 10
    assert emitter.__version__ == found["SemanticVersion"]
    assert "Apache-2.0" == found["SpdxLicenseId"]
    assert f"{found['HomePageUrl']}/tree/v{emitter.__version__}" == found["SourceCodeUrl"]
    for name in (found["LicenseUrl"], found["ReadmeUrl"]):  # `sam package` uploads them
        assert (repository / name).stat().st_size < 5_000_000


def test_it_needs_one_transform_and_names_no_partition(text, release):
    """GovCloud and China have no AWS::Include; publishing takes SAM's transform alone."""
    assert "AWS::Serverless-2016-10-31" == release["Transform"]
    assert not re.search(r"Fn::Transform|AWS::Include|Fn::ForEach|arn:aws:", text)


def test_every_resource_is_of_a_type_that_the_repository_takes(release):
    """But saved queries, which can be left out: nothing refers to one."""
    types = {
        name: re.sub("^Custom::.*", "AWS::CloudFormation::CustomResource", one["Type"])
        for name, one in release["Resources"].items()
    }
    assert {SAVED_QUERY} == set(types.values()) - TAKEN
    rest = {name: one for name, one in release["Resources"].items() if types[name] != SAVED_QUERY}
    stated = json.dumps([rest, release["Outputs"]])
    queries = "|".join(types.keys() - rest.keys())
    assert not re.search(rf'"(Ref|Fn::GetAtt)": \[?"({queries})"|\$\{{({queries})[.}}]', stated)


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
    for section in ("Resources", "Parameters", "Conditions", "Mappings", "Outputs"):
        assert clone[section] == release[section], section


@pytest.mark.slow
def test_cloudformations_own_rules_find_nothing_in_any_region(program_of, text, tmp_path):
    """cfn-lint, as SAM brings it; `sam validate --lint` does not read what the clone includes."""
    path = tmp_path / "template.yaml"
    path.write_text(text, "utf-8")
    linter = program_of(".venv-sam", "cfn-lint")
    found = run_program(
        [
            *(linter, "--non-zero-exit-code", "informational"),
            *("--regions", "ALL_REGIONS", "--", path),
        ]
    )
    assert (0, "") == (found.returncode, found.stdout)
