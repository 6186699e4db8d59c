"""The rehearsal sends profiles as people would, and they arrive as CloudWatch takes them."""

from __future__ import annotations

import json
import os

import pytest

from local.rehearsal.jobs import Jobs
from local.rehearsal.profiles import BEFORE_S, MODELS, profile_jobs
from local.rehearsal.stage import Stage
from neuron_wire.emf import violations
from proof.logs.service import RECORDS_GROUP, LogsService

pytestmark = pytest.mark.timeout(60)


def test_profiles_arrive_with_their_moment_and_findings():
    """By the command itself, in a process of its own, into the log group of the fleet."""
    with LogsService() as service, Stage() as stage:
        service.rules.groups.setdefault(RECORDS_GROUP, set())
        end_s = int(service.clock()) // 60 * 60
        environment = {
            "PATH": os.environ["PATH"], "HOME": str(stage.folder), "AWS_ENDPOINT_URL": service.url,
            "AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing",
            "AWS_DEFAULT_REGION": "us-west-2",
        }  # fmt: skip
        Jobs(stage, profile_jobs(stage.folder, end_s, environment, RECORDS_GROUP)).finish()
        arrived = [one.message for one in service.rules.applied]
    assert [] == [problem for line in arrived for problem in violations(line)]
    found = {(one["ClusterName"], one["Model"]): one for one in map(json.loads, arrived)}
    assert MODELS.keys() == found.keys()
    assert {(end_s - BEFORE_S) * 1000} == {one["_aws"]["Timestamp"] for one in found.values()}
    assert ["transpose", None] == [found[key].get("Findings") for key in MODELS]
