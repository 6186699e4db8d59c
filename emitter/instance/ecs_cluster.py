"""
The ECS cluster: of this task from its metadata endpoint, else of this container instance.

ECS puts the address of the metadata endpoint into a variable of every
container, so where the variable is set, this is an ECS task and no other source
may answer for it. The agent answers on the instance and in containers with host
networking; while it is not up yet, its configuration file says the same. From
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/task-metadata-endpoint-v4-response.html
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-introspection.html
and https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-config.html
"""

from __future__ import annotations

import time
from typing import Final

from emitter.instance.cluster_source import FoundCluster, NotFound, Surroundings, name_in
from emitter.instance.local_http import LocalHttpError, exchange
from emitter.instance.small_files import assignments, read_text

VARIABLE: Final = "ECS_CONTAINER_METADATA_URI_V4"
WAITS_S: Final = (0.25, 1.0)  # the agent behind the endpoint may just be starting again

AGENT_URL: Final = "http://localhost:51678"
METADATA_PATH: Final = "/v1/metadata"
CONFIGURATION_FILE: Final = "etc/ecs/ecs.config"


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
    return NotFound(f"{why} (in an ECS task no other source is tried)", is_final=True)


def ecs_agent(around: Surroundings, /) -> FoundCluster | NotFound:
    """The name that the agent gives, else the one it was configured with."""
    name, why = ask_for_cluster(f"{around.agent_url}{METADATA_PATH}")
    if name:
        return FoundCluster(name, "the ECS agent")
    configured = dict(assignments(read_text(around.root / CONFIGURATION_FILE) or ""))
    if name := name_in(configured.get("ECS_CLUSTER")):
        return FoundCluster(name, f"ECS_CLUSTER in /{CONFIGURATION_FILE}")
    return NotFound(f"{why}, and /{CONFIGURATION_FILE} has no ECS_CLUSTER")


def ask_for_cluster(url: str) -> tuple[str, str]:
    """The name that the answer of *url* has; empty with the reason when it has none."""
    try:
        reply = exchange(url)
        if reply.status != 200:
            return "", f"status {reply.status}"
        name = name_in(reply.json_object().get("Cluster"))
    except LocalHttpError as error:
        return "", str(error)
    return name, "" if name else "no cluster in its response"
