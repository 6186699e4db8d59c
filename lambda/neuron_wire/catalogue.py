"""
Every metric and every property by name: unit, family, source, meaning.

`catalogue.json` is the only definition of names: no line has a member that is not in it
(`tests/neuron_wire/emf_documents.py`), and docs/reference/metrics.md is generated from it. A member
without `family` is a label. A member without `kinds` is in minute lines. A member that is `like`
another has the values of that earlier member, except those that it defines itself.

A *gauge* is a value at a moment: a duplicate line is harmless; use Average, Maximum or Minimum. A
*tally* is an amount of the minute that adds up over time: use Sum. A *total* is an amount since the
Boot of the line: use the difference of two lines. A *label* is not a number.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, Literal, TypeAlias

from neuron_wire.names import (
    CORE_KIND,
    EVENT_KIND,
    MINUTE_KIND,
    MORE_KIND,
    PROFILE_KIND,
    RAW_KIND,
    REPORT_KIND,
    ROLLUP_KIND,
    RUNTIME_KIND,
)

if TYPE_CHECKING:
    from collections.abc import Mapping

MembersOf: TypeAlias = "Mapping[str, Member]"
"""Members of the catalogue by name."""

Family = Literal["gauge", "tally", "total", "label"]

Merging = Literal["", "last", "sum", "mean"]
"""
How readings of several records become one of the minute: the last one, their sum, or their mean
weighted by covered seconds.
"""

STACK_KIND: Final = "stack"
"""The kind of the stack's lines about itself in this catalogue; the lines have no member Kind."""

EMITTED: Final = (
    MINUTE_KIND,
    MORE_KIND,
    CORE_KIND,
    RUNTIME_KIND,
    EVENT_KIND,
    REPORT_KIND,
    RAW_KIND,
)
"""The kinds that an emitter writes."""

Tier = Literal["", "cluster", "instance", "core", "legacy", "always"]
CLUSTER_TIER: Final = "cluster"
INSTANCE_TIER: Final = "instance"
ALWAYS_TIER: Final = "always"

_BEFORE_WORD: Final = re.compile(r"(?<=[a-z])(?=[A-Z])")
_WHOLE_UNITS: Final = frozenset({"Count", "Bytes"})
_STATISTIC_OF_FAMILY: Final[dict[Family, str]] = {
    "gauge": "Average",
    "tally": "Sum",
    "total": "difference",
    "label": "",
}


@dataclass(frozen=True, slots=True)
class Member:
    """
    One member of a line.

    Attributes:
        name: Its name in the line; `A.b` is member b of the objects in the array A.

        source: The path in neuron-monitor's report, or its origin in words.

        folds: How the values of the minute become one.

        meaning: One sentence.

        unit: One of CloudWatch's units, empty for a label.

        family: `gauge`, `tally`, `total` or `label`.

        kinds: The kinds of lines that have it.

        tier: The first `--metrics` tier at which CloudWatch makes it a metric, `always`, or empty
            for a property.

        is_rare: True if a line has it only if it is above 0, or set.

        read_with: The CloudWatch statistic, if it is not the usual one of its family.

        merges: How several readings of one minute become one. It makes the member a reading: a
            number that is in `MinuteRecord.readings` under this name and needs no field of its own.
    """

    name: str
    source: str
    folds: str
    meaning: str
    unit: str = ""
    family: Family = "label"
    kinds: tuple[str, ...] = (MINUTE_KIND,)
    tier: Tier = ""
    is_rare: bool = False
    read_with: str = ""
    merges: Merging = ""

    @property
    def statistic(self) -> str:
        """The CloudWatch statistic that gives a correct number; empty for a label."""
        return self.read_with or _STATISTIC_OF_FAMILY[self.family]

    @property
    def is_whole(self) -> bool:
        """True if its values are whole numbers: counts and bytes."""
        return self.unit in _WHOLE_UNITS


@dataclass(frozen=True, slots=True)
class ClusterAlarm:
    """
    An alarm of the stack on one metric of the rollups.

    Attributes:
        name: Its logical ID in the template, without `Alarm`.

        metric: The metric that it watches.

        title: The subject of its messages, in words.

        urgency: Its urgency on the page until a message has another.

        about: The stored rollup that describes it: `minute` is the last one. Any other value is the
            last rollup in which the metric, a tally, was above 0: its minute is over when the alarm
            fires.

        is_idle: True for the alarms about idle cores, which share one message.
    """

    name: str = ""
    metric: str = ""
    title: str = ""
    urgency: Literal["now", "today", "can wait"] = "now"
    about: str = "minute"
    is_idle: bool = False

    @property
    def anchor(self) -> str:
        """The heading in the runbook: `IdleCores` is `idle-cores`."""
        return _BEFORE_WORD.sub("-", self.name).lower()

    @property
    def covered_metrics(self) -> tuple[str, ...]:
        """The metrics whose alarms share one message with it; empty if it has its own message."""
        idle = (alarm.metric for alarm in ALARMS.values() if alarm.is_idle)
        return tuple(idle) if self.is_idle else ()

    @property
    def kind(self) -> str:
        """The attribute that subscriptions filter by; the same for all alarms about idle cores."""
        return "idle-cores" if self.is_idle else self.anchor


def _read_subjects(subjects: Mapping[str, list[dict[str, Any]]]) -> dict[str, tuple[Member, ...]]:
    by_name: dict[str, Member] = {}

    def member_of(entry: dict[str, Any]) -> Member:
        like = entry.pop("like", None)
        if "kinds" in entry:
            entry["kinds"] = tuple(entry["kinds"])
        member = Member(**entry) if like is None else replace(by_name[like], **entry)
        by_name[member.name] = member
        return member

    return {title: tuple(map(member_of, entries)) for title, entries in subjects.items()}


_CATALOGUE: Final = json.loads(Path(__file__).with_name("catalogue.json").read_text("utf-8"))

MEMBERS_BY_SUBJECT: Final = _read_subjects(_CATALOGUE["subjects"])
"""Every member, by subject."""

EVENT_NAMES: Final[dict[str, str]] = _CATALOGUE["events"]
"""The values of the member Event, and their meanings."""

CATALOGUE_MEMBERS: Final = tuple(
    member for members in MEMBERS_BY_SUBJECT.values() for member in members
)

EXECUTION_MEMBERS: Final = MEMBERS_BY_SUBJECT["Executions"]
ECC_MEMBERS: Final = MEMBERS_BY_SUBJECT["Memory errors (ECC)"]
HEALTH_MEMBERS: Final = MEMBERS_BY_SUBJECT["Emitter health"]
PROFILE_MEMBERS: Final = MEMBERS_BY_SUBJECT["Profiles"]

FAILURES: Final = {
    "ExecutionsTimedOut": "timed out",
    "ExecutionsIncorrectInput": "had incorrect input",
    "ExecutionsFailedToQueue": "could not be queued",
    "ExecutionsCompletedWithErr": "ended with an error",
    "ExecutionsCompletedWithNumErr": "ended with a numerical error",
}
"""
The types of failed executions, in words; an execution of the first three is not in Executions.
"""


def members_of(kind: str) -> dict[str, Member]:
    """Return the members of lines of *kind*, by name."""
    return {member.name: member for member in CATALOGUE_MEMBERS if kind in member.kinds}


def _metrics_of(kind: str, *tiers: Tier) -> dict[str, Member]:
    """Return the metrics in lines of *kind*, of *tiers* or by default."""
    tiers = tiers or (CLUSTER_TIER, ALWAYS_TIER)
    return {name: member for name, member in members_of(kind).items() if member.tier in tiers}


MINUTE_METRICS: Final = _metrics_of(MINUTE_KIND)
"""The metrics of a minute line at `--metrics cluster`, dimension ClusterName."""

INSTANCE_METRICS: Final = _metrics_of(MINUTE_KIND, INSTANCE_TIER)
"""The further metrics of a minute line at `--metrics instance` and `core`."""

_NO_CHOICE: Final = frozenset(
    {
        "ErrorsGeneric",  # unreliable in reports of 2023, absent in reports of 2026
        "NeuronCoreUtilizationMore",  # the rest of NeuronCoreUtilization, for the stack
        "NeuronCoreUtilizationNC0",  # one name for the metrics of the tier legacy
    }
)

CHOOSABLE: Final = {
    name: member
    for name, member in members_of(MINUTE_KIND).items()
    if member.family in ("gauge", "tally") and "." not in name and name not in _NO_CHOICE
}
"""The gauges and tallies of a minute line, which `--metric` makes metrics."""

READING_MEMBERS: Final = {member.name: member for member in CATALOGUE_MEMBERS if member.merges}
"""The numbers of a minute line that need no field of a record, by name."""

STACK_METRICS: Final = _metrics_of(STACK_KIND)
"""The metrics of the stack's lines about itself: Neuron/Stack, dimension StackName."""

PROFILE_METRICS: Final = _metrics_of(PROFILE_KIND)
"""The metrics of a profile of one core: Neuron/Profile, by ClusterName and Model, and by Core."""

DEFAULT_ROLLUP_METRICS: Final = _metrics_of(ROLLUP_KIND)
"""The metrics of a rollup line by default, namespace Neuron/Cluster, dimension ClusterName."""

ROLLUP_NUMBERS: Final = {
    member.name: member
    for title in ("Rollups: metrics", "Rollups: other numbers")
    for member in MEMBERS_BY_SUBJECT[title]
}
"""All members that the parameter Metrics can make a metric; the others stay properties."""

ALARMS: Final = {name: ClusterAlarm(name, **entry) for name, entry in _CATALOGUE["alarms"].items()}
"""The alarms on clusters, by logical ID without `Alarm`."""

ALARMED: Final = tuple(alarm.metric for alarm in ALARMS.values())
"""The metrics that alarms read, which are always published."""

RESERVED_NAMES: Final = frozenset(
    name for kind in EMITTED for name in members_of(kind) if "." not in name
) | {"_aws"}
"""Names at the root of an emitter's lines, which a tag of the operator must not use."""


def rollup_metrics(text: str) -> tuple[MembersOf, tuple[str, ...]]:
    """
    Return the metrics of a rollup for the parameter Metrics, names separated by commas.

    >>> metrics, unknown = rollup_metrics("Executions, NoSuchNumber")
    >>> unknown
    ('NoSuchNumber',)

    Returns:
        The named metrics and those that alarms read, or the default metrics if *text* is empty; and
        the names that do not belong to a number.
    """
    wanted = dict.fromkeys(filter(None, map(str.strip, text.split(","))))
    chosen = {*wanted, *ALARMED} if wanted else DEFAULT_ROLLUP_METRICS
    found = {name: member for name, member in ROLLUP_NUMBERS.items() if name in chosen}
    return found, tuple(name for name in wanted if name not in ROLLUP_NUMBERS)
