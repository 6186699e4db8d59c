"""What an endpoint of ECS says the cluster is called; the task's and the agent's answer alike."""

from __future__ import annotations

from emitter.instance.cluster_source import name_in
from emitter.instance.local_http import LocalHttpError, exchange


def ask_for_cluster(url: str) -> tuple[str, str]:
    """The name that the answer of *url* has; empty with the reason when it has none."""
    try:
        reply = exchange(url)
        if reply.status != 200:
            return "", f"it answered {reply.status}"
        name = name_in(reply.json_object().get("Cluster"))
    except LocalHttpError as error:
        return "", str(error)
    return name, "" if name else "its answer names no cluster"
