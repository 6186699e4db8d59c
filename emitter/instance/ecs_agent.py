"""
The cluster of this ECS container instance: from the agent, or from its configuration.

The agent answers on the instance and in containers with host networking; in
others the task metadata endpoint speaks first. While the agent is not up yet,
its configuration file says the same. From
https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-introspection.html
and https://docs.aws.amazon.com/AmazonECS/latest/developerguide/ecs-agent-config.html
"""

from __future__ import annotations

from typing import Final

from emitter.instance.cluster_source import FoundCluster, NotFound, Surroundings, name_in
from emitter.instance.ecs_answer import ask_for_cluster
from emitter.instance.small_files import assignments, read_text

AGENT_URL: Final = "http://localhost:51678"
METADATA_PATH: Final = "/v1/metadata"
CONFIGURATION_FILE: Final = "etc/ecs/ecs.config"


def ecs_agent(around: Surroundings, /) -> FoundCluster | NotFound:
    """The name that the agent gives, else the one it was configured with."""
    name, why = ask_for_cluster(f"{around.agent_url}{METADATA_PATH}")
    if name:
        return FoundCluster(name, "the ECS agent")
    configured = dict(assignments(read_text(around.root / CONFIGURATION_FILE) or ""))
    if name := name_in(configured.get("ECS_CLUSTER")):
        return FoundCluster(name, f"ECS_CLUSTER in /{CONFIGURATION_FILE}")
    return NotFound(f"{why}, and /{CONFIGURATION_FILE} has no ECS_CLUSTER")
