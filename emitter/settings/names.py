"""Names that CloudWatch must be able to take as dimensions."""

from __future__ import annotations

import re
from typing import Final

from emitter import VARIABLE_PREFIX
from emitter.errors import SettingsError
from neuron_wire.minute import MAX_CLUSTER_CHARS, MAX_INSTANCE_CHARS

NO_CLUSTER: Final = (
    f"No cluster name is set. Use --cluster NAME, {VARIABLE_PREFIX}_CLUSTER, "
    'or cluster = "NAME" in the configuration file.'
)
_NAMESPACE: Final = re.compile(r"(?!AWS/|:)[A-Za-z0-9._#:/-]{1,255}")


def require_cluster(cluster: str) -> str:
    """
    Give *cluster* back if it can be the key of rollups.

    Raises:
        SettingsError: If *cluster* is empty or cannot be a CloudWatch dimension.
    """
    if not cluster.strip():
        raise SettingsError(NO_CLUSTER)
    if not is_printable(cluster, MAX_CLUSTER_CHARS):
        msg = (
            f"Invalid cluster name. Use --cluster with 1 to {MAX_CLUSTER_CHARS} "
            "printable ASCII characters, as for CloudWatch dimensions."
        )
        raise SettingsError(msg)
    return cluster


def require_instance_id(instance_id: str | None) -> None:
    """
    Refuse an instance id that no record may have.

    Raises:
        SettingsError: If the stack would refuse every line with it.
    """
    if instance_id is None or is_printable(instance_id, MAX_INSTANCE_CHARS):
        return
    msg = (
        f"Invalid instance ID. Use --instance-id with 1 to {MAX_INSTANCE_CHARS} "
        "printable ASCII characters, or omit it."
    )
    raise SettingsError(msg)


def require_namespace(namespace: str) -> None:
    """
    Refuse a namespace that CloudWatch would drop every metric for.

    Raises:
        SettingsError: If it is no name of a namespace of one's own.
    """
    if not _NAMESPACE.fullmatch(namespace):
        msg = (
            f"Invalid --namespace {namespace[:40]!r}. Use 1 to 255 of A-Z a-z 0-9 . _ "
            "# : / -, not beginning with a colon or AWS/."
        )
        raise SettingsError(msg)


def is_printable(text: str, longest: int) -> bool:
    """Whether *text* can be the value of a dimension."""
    return bool(text.strip()) and len(text) <= longest and text.isascii() and text.isprintable()
