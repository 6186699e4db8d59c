"""One line before it is written."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_wire import names

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from emitter.lines.settings import LineIdentity
    from neuron_wire import MinuteRecord

STANDARD_S: Final = 60
HIGH_S: Final = 1


@dataclass(frozen=True, slots=True)
class Draft:
    """
    The members of one line, and which of them CloudWatch is to make metrics of.

    Attributes:
        members: Everything in the line but `_aws`, in order.

        timestamp_ms: Milliseconds since the Unix epoch.

        units: Unit by name of each metric; a line without one is no EMF document.

        dimension_sets: Names of members. Each metric makes a series for each set.

        resolution_s: Storage resolution of the metrics, 1 or 60 seconds.

        by_instance: Unit by name of each metric that a directive of its own counts
            by cluster and instance.
    """

    members: Mapping[str, object]
    timestamp_ms: int
    units: Mapping[str, str] = field(default_factory=dict)
    dimension_sets: Sequence[Sequence[str]] = ()
    resolution_s: int = STANDARD_S
    by_instance: Mapping[str, str] = field(default_factory=dict)


def identity_members(
    kind: str, identity: LineIdentity | MinuteRecord, seq: int
) -> dict[str, object]:
    """The members that every line begins with."""
    members: dict[str, object] = {
        "Schema": names.VERSION, "Kind": kind, "Boot": identity.boot, "Seq": seq,
        "ClusterName": identity.cluster, "InstanceId": identity.instance_id,
    }  # fmt: skip
    if identity.identity_guessed:
        members["IdentityGuessed"] = True
    return members
