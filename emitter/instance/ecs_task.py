"""
The cluster of this ECS task, from the task metadata endpoint, version 4.

ECS puts the endpoint's address into a variable of every container, so where the
variable is set, this is an ECS task and no other source may answer for it. From
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-response.html
"""

from __future__ import annotations

import time
from typing import Final

from emitter.instance.cluster_source import FoundCluster, NotFound, Surroundings
from emitter.instance.ecs_answer import ask_for_cluster

VARIABLE: Final = "ECS_CONTAINER_METADATA_URI_V4"
WAITS_S: Final = (0.25, 1.0)  # the agent behind the endpoint may just be starting again


def ecs_task(around: Surroundings, /) -> FoundCluster | NotFound:
    """The name that the task's metadata give, by name or by ARN."""
    uri = around.environ.get(VARIABLE, "").strip()
    if not uri:
        return NotFound(f"{VARIABLE} is not set")
    why = ""
    for wait_s in (0.0, *WAITS_S):
        time.sleep(wait_s)
        name, why = ask_for_cluster(f"{uri.rstrip('/')}/task")
        if name:
            return FoundCluster(name, "the ECS task metadata endpoint")
    return NotFound(f"{why}; this is an ECS task, so no other source was asked", is_final=True)
