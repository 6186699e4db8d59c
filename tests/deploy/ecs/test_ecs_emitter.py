"""
The emitter with the variables of the task definitions, in a task whose metadata are answered here.
"""

from __future__ import annotations

import dataclasses

import pytest

from proof.account.account import REGION
from tests.deploy.deployed_emitter import deployed_emitter
from tests.json_page import json_page


@pytest.fixture
def metadata():
    """The address of a task's metadata, version 4, in the cluster `training`."""
    with json_page({"Cluster": "arn:aws:ecs:us-west-2:111122223333:cluster/training"}) as address:
        yield f"{address}/v4/0123456789abcdef-1"


@pytest.mark.proof
@pytest.mark.parametrize("kind", ["daemon", "sidecar"])
def test_a_task_writes_lines_of_its_cluster_and_says_when_it_is_well(
    programs_of_ecs, metadata, tmp_path, request, kind
):
    """
    Nobody names the cluster but ECS; not well before it runs, well while it does, not well after.
    """
    definition, files = programs_of_ecs
    place = dataclasses.replace(files.EXAMPLE, region=REGION)
    container = definition.emitter_container(1, place, is_daemon=kind == "daemon")
    variables = {one["name"]: one["value"] for one in container["environment"]}
    given = {**variables, "ECS_CONTAINER_METADATA_URI_V4": metadata}
    exec_form, *command = definition.HEALTH_COMMAND
    assert "CMD" == exec_form
    with deployed_emitter(tmp_path, request, given) as emitter:
        assert not emitter.is_well(command)
        emitter.start()
        assert emitter.becomes_well(command)
        assert 0 == emitter.stop()
        assert not emitter.is_well(command)
        last = emitter.minutes()[-1]
    assert ("training", True) == (last["ClusterName"], last["Bye"])
