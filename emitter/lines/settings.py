"""What the lines of one emitter have in common: who writes them, and what they define."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.lines.choice import Choice
from neuron_wire.names import NAMESPACE

if TYPE_CHECKING:
    from collections.abc import Mapping

NONE: Final = "none"
CLUSTER: Final = "cluster"
INSTANCE: Final = "instance"
CORE: Final = "core"
LEGACY: Final = "legacy"


@dataclass(frozen=True, slots=True)
class LineIdentity:
    """
    Who writes: the identity of every line but its number.

    Attributes:
        cluster: Cluster name, the rollup key.

        instance_id: Such as `i-0123456789abcdef0`. Never empty.

        identity_guessed: Nobody named the instance: the id is made up, and stable.

        boot: Identity of one run of the emitter.

        instance_type: Such as `trn1.32xlarge`; None where it is not known.

        ami_id: Such as `ami-0123456789abcdef0`; None where it is not known.
    """

    cluster: str
    instance_id: str
    identity_guessed: bool
    boot: str
    instance_type: str | None = None
    ami_id: str | None = None


@dataclass(frozen=True, slots=True)
class LineSettings:
    """
    Which metrics the lines define, by which dimensions, and what else is in them.

    Attributes:
        tier: `none`, `cluster`, `instance`, `core` or `legacy`.

        namespace: CloudWatch namespace of the metrics.

        tags: Extra members of every line, such as `{"team": "search"}`.

        tag_dimensions: Names of tags by which CloudWatch counts the metrics too,
            each beside the cluster.

        common_dims: Dimensions as neuron-monitor-cloudwatch.py names them, see
            `emitter.lines.legacy`.

        high_resolution: Report lines carry metrics of one second, so the minute
            lines leave them out.

        choice: Metrics beyond those of the tier.
    """

    tier: str = CLUSTER
    namespace: str = NAMESPACE
    tags: Mapping[str, str] = field(default_factory=dict)
    tag_dimensions: tuple[str, ...] = ()
    common_dims: tuple[str, ...] = ()
    high_resolution: bool = False
    choice: Choice = field(default_factory=Choice)
