"""What sam build made, and the libraries that the Lambda runtime adds to it."""

from __future__ import annotations

import filecmp
from pathlib import Path

import boto3
import pytest

from local.alarms.template import load_template

# What the Lambda runtime brings, so that the artefact need not.
OF_THE_RUNTIME = ["boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six.py", "urllib3"]


def handlers(repository):
    """The handler of each function of the template, by the function's logical id."""
    template = load_template(repository / "template.yaml")
    return {
        name: resource["Properties"]["Handler"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def build_folder(repository, *, required):
    """
    The folder that sam build made, no older than its source; without it the test is skipped or,
    when it is *required*, fails.
    """
    build = repository / ".aws-sam" / "build"
    reason = None
    if not is_newer(build / "template.yaml", repository / "template.yaml"):
        reason = ".aws-sam/build is older than template.yaml: make build renews it"
    for name in handlers(repository):
        for package in ("aggregator", "neuron_accounts", "neuron_wire", "neuron_words"):
            made = build / name / package
            source = repository / "lambda" / package
            if not made.is_dir():
                reason = f".aws-sam/build has no {name}: make build makes it"
            elif differences(source, made):
                reason = f".aws-sam/build is older than lambda/{package}: make build renews it"
    if reason and required:
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    return build


def is_newer(made, source):
    """Whether *made* is there and was written after *source*."""
    return made.exists() and made.stat().st_mtime >= source.stat().st_mtime


def differences(source, made):
    """Source files that are missing or different in what was made."""
    expected = {path for path in files(source) if "__pycache__" not in path.parts}
    same, _, _ = filecmp.cmpfiles(source, made, [str(path) for path in expected], shallow=False)
    return expected - {Path(path) for path in same}


def files(folder):
    """Every file of a folder, relative to it."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def link_runtime_libraries(folder):
    """Make *folder* hold the libraries of the Lambda runtime and nothing else."""
    installed = Path(boto3.__file__).resolve().parent.parent
    for name in OF_THE_RUNTIME:
        (folder / name).symlink_to(installed / name)
    return folder
