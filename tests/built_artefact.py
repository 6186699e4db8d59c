"""The result of sam build, and the libraries that the Lambda runtime adds to it."""

from __future__ import annotations

import filecmp
from pathlib import Path

import boto3
import pytest

from local.alarms.template import load_template

# Libraries of the Lambda runtime, which the artefact does not need.
RUNTIME_LIBRARIES = ["boto3", "botocore", "dateutil", "jmespath", "s3transfer", "six.py", "urllib3"]


def handlers(repository):
    """Return the handler of each function of the template, by logical ID."""
    template = load_template(repository / "template.yaml")
    return {
        name: resource["Properties"]["Handler"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Serverless::Function"
    }


def build_folder(repository, *, required):
    """
    Return sam build's folder if it is newer than its source.

    Otherwise the test is skipped, or fails if the build is *required*.
    """
    build = repository / ".aws-sam" / "build"
    reason = None
    if not is_newer(build / "template.yaml", repository / "template.yaml"):
        reason = ".aws-sam/build is older than template.yaml: run make build"
    for name in handlers(repository):
        for package in ("aggregator", "neuron_accounts", "neuron_wire", "neuron_words"):
            built = build / name / package
            source = repository / "lambda" / package
            if not built.is_dir():
                reason = f".aws-sam/build has no {name}: run make build"
            elif differences(source, built):
                reason = f".aws-sam/build is older than lambda/{package}: run make build"
    if reason and required:
        pytest.fail(reason)
    if reason:
        pytest.skip(reason)
    return build


def is_newer(built, source):
    """Return True if *built* exists and is newer than *source*."""
    return built.exists() and built.stat().st_mtime >= source.stat().st_mtime


def differences(source, built):
    """Return source files that are missing or different in the build."""
    expected = {path for path in files(source) if "__pycache__" not in path.parts}
    same, _, _ = filecmp.cmpfiles(source, built, [str(path) for path in expected], shallow=False)
    return expected - {Path(path) for path in same}


def files(folder):
    """Return every file of a folder, relative to it."""
    return {path.relative_to(folder) for path in folder.rglob("*") if path.is_file()}


def link_runtime_libraries(folder):
    """Fill *folder* with links to the libraries of the Lambda runtime, and return it."""
    installed = Path(boto3.__file__).resolve().parent.parent
    for name in RUNTIME_LIBRARIES:
        (folder / name).symlink_to(installed / name)
    return folder
