"""
What there is to say about one member of a line.

A *gauge* is a value at a moment: a line that arrives twice does no harm, read
it with Average, Maximum or Minimum. A *tally* is an amount in the minute that
adds up over time: read it with Sum. A *total* is an amount since the Boot of
the line: read the difference of two lines. A *label* is no number. A reader
that mixes them up gets a wrong number, which is why the family stands here,
beside the name, and nowhere else.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final, Literal

from neuron_wire import names

if TYPE_CHECKING:
    from collections.abc import Iterable

Family = Literal["gauge", "tally", "total", "label"]

Merging = Literal["", "last", "sum", "mean"]
"""
How a reading of one minute is made of those that several records of it tell:
the last that has one, their sum, or the mean weighted by covered seconds.
"""

STACK: Final = "stack"
"""Where the stack says something about itself: no kind of line, those have no Kind."""

EMITTED: Final = (
    names.MINUTE, names.MORE, names.CORE, names.RUNTIME, names.EVENT, names.REPORT, names.RAW,
)  # fmt: skip
"""The kinds that an emitter writes."""

Tier = Literal["", "cluster", "instance", "core", "legacy", "always"]
CLUSTER_TIER: Final = "cluster"
INSTANCE_TIER: Final = "instance"
CORE_TIER: Final = "core"
LEGACY_TIER: Final = "legacy"
ALWAYS: Final = "always"

_WHOLE: Final = frozenset({"Count", "Bytes"})
_STATISTICS: Final[dict[Family, str]] = {
    "gauge": "Average",
    "tally": "Sum",
    "total": "difference",
    "label": "",
}


@dataclass(frozen=True, slots=True)
class Member:
    """
    One name that may stand in a line.

    Attributes:
        name: As it stands in the line; `A.b` is member b of the objects in the
            array A.

        unit: One of CloudWatch's units, empty for a label.

        family: `gauge`, `tally`, `total` or `label`.

        source: Where it comes from: the path in neuron-monitor's report, or in
            words whoever else tells it.

        folds: How one value is made of all those of the minute.

        meaning: One sentence.

        kinds: Lines in which it stands.

        tier: First `--metrics` tier at which CloudWatch makes a metric of it,
            `always`, or empty when it is a property only.

        is_rare: There only when it is above 0, or set.

        read_with: CloudWatch statistic, where it is not that of its family.

        merges: Makes it a reading: a number that travels in `MinuteRecord.readings`
            under this name and needs no field of its own. Says how those of
            several records of one minute become one.
    """

    name: str
    unit: str
    family: Family
    source: str
    folds: str
    meaning: str
    kinds: tuple[str, ...] = (names.MINUTE,)
    tier: Tier = ""
    is_rare: bool = False
    read_with: str = ""
    merges: Merging = ""

    @property
    def statistic(self) -> str:
        """The CloudWatch statistic that gives a true number; empty for a label."""
        return self.read_with or _STATISTICS[self.family]

    @property
    def is_whole(self) -> bool:
        """Whether its values are whole numbers: counts and bytes."""
        return self.unit in _WHOLE


def metrics(members: Iterable[Member], kind: str) -> dict[str, Member]:
    """Those of *members* that are metrics in lines of *kind* as they are by default, by name."""
    return {
        one.name: one for one in members if kind in one.kinds and one.tier in (CLUSTER_TIER, ALWAYS)
    }
