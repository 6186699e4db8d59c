"""
One minute of one instance, with the values that the stack needs.

A record is complete by itself: it refers to no other line. A number that several rules of the fold
or of the stack use has a field of the record, and `FIELDS` has its name in the line; every other
number is a reading, which only the catalogue knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING, Final, Literal, NamedTuple, TypeAlias

from neuron_wire.catalogue import CATALOGUE_MEMBERS, FAILURES
from neuron_wire.core_members import (
    core_indexes,
    read_core_state,
    read_idle_minutes,
    read_utilization,
    utilization_members,
)
from neuron_wire.holders import Holder, holder_members, read_holders
from neuron_wire.line_members import (
    BAD_MEMBER,
    MAX_COUNT,
    MISSING_MEMBER,
    Counts,
    JsonObject,
    Members,
    WireFormatError,
    check_amount,
    check_count,
    check_flag,
    count_in,
    filled,
    stands_as,
    stated_fields,
)
from neuron_wire.names import (
    ATTACHED_IDLE_STATE,
    BUSY_STATE,
    MINUTE_KIND,
    MINUTE_MS,
    MINUTE_S,
    PAID_VALUES,
    RESERVATIONS_KNOWN,
    RESERVATIONS_UNKNOWN,
    RESERVATIONS_VALUES,
    UNATTACHED_STATE,
    UNKNOWN_REASONS,
    UNKNOWN_STATE,
    VERSION,
)
from neuron_wire.owners import Owner, owner_members, read_owners

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from neuron_wire.core_members import Percents

Number = int | float

Numbers: TypeAlias = "dict[str, Number]"
"""Numbers by member."""

_SIGNIFICANT: Final = ".6g"
"""
The format of an amount that is not a count. neuron-monitor's own numbers are means of a period and
not more exact; each further digit is a byte of every line.
"""


def read_amounts(line: JsonObject) -> tuple[Members, Numbers]:
    """
    Return the numbers of *line*: those with a field, by field, and the readings, by name.

    Raises:
        WireFormatError: If one has an impossible type or range.
    """
    fields: Members = {}
    readings: Numbers = {}
    for member, name, kind in MINUTE_NUMBERS:
        value = line.get(member)
        if value is None:
            continue
        if type(value) is not kind or not 0 <= value <= MAX_COUNT:
            # Checked inline, which takes a third of the time of a call for each number.
            check = check_count if kind is int else check_amount
            value = check(value, member)
        if name is None:
            readings[member] = value
        else:
            fields[name] = value
    return fields, readings


def round_significant(value: Number) -> Number:
    """Return *value* rounded as in a line. No other code rounds it before."""
    return float(format(value, _SIGNIFICANT)) if isinstance(value, float) else value


def _acceptable(numbers: Iterable[tuple[str, Number | None]]) -> Members:
    """Return the *numbers* that a reader accepts, as in a line."""
    # NaN compares false with every number.
    return {
        member: round_significant(value)
        for member, value in numbers
        if value is not None and 0 <= value <= MAX_COUNT
    }


MAX_CLUSTER_CHARS: Final = 255
MAX_INSTANCE_CHARS: Final = 128
MAX_MEMBER_CHARS: Final = 128
_MAX_TIME_MS: Final = 1 << 53  # the largest integer that JSON numbers represent exactly


class _Member(NamedTuple):
    """
    The rule of one member.

    Attributes:
        member: Its name.

        field: The name of the record's field.

        accepts: The form of a text, or the check of another value.

        need: `needed` if a line without the member is not a minute, `lenient` if a text of another
            form counts as absent and is not written, otherwise `optional`.
    """

    member: str
    field: str
    accepts: re.Pattern[str] | Callable[[object, str], object]
    need: Literal["needed", "optional", "lenient"] = "optional"


def _printable(longest: int) -> re.Pattern[str]:
    """Return the form of 1 to *longest* printable ASCII characters that are not all blank."""
    return re.compile(rf"(?= *[!-~])[ -~]{{1,{longest}}}")


_SHORT_TEXT: Final = _printable(MAX_MEMBER_CHARS)
_IDENTITY_RULES: Final = (
    _Member("Boot", "boot", re.compile("[0-9A-Za-z._-]{1,64}"), "needed"),
    _Member("Seq", "seq", partial(check_count, least=1), "needed"),
    _Member("ClusterName", "cluster", _printable(MAX_CLUSTER_CHARS), "needed"),
    _Member("InstanceId", "instance_id", _printable(MAX_INSTANCE_CHARS), "needed"),
    _Member("IdentityGuessed", "identity_guessed", check_flag),
    _Member("InstanceType", "instance_type", _SHORT_TEXT),
    _Member("Region", "region", _SHORT_TEXT),
    _Member("AvailabilityZone", "availability_zone", _SHORT_TEXT),
    _Member("UltraServerId", "ultraserver_id", _SHORT_TEXT),
    _Member("Reservations", "reservations", re.compile("|".join(RESERVATIONS_VALUES)), "lenient"),
    _Member("AccountId", "account_id", re.compile("[0-9]{12}"), "lenient"),
    _Member("Lifecycle", "lifecycle", re.compile("[!-~]{1,40}"), "lenient"),
    _Member("Paid", "paid", re.compile("|".join(PAID_VALUES)), "lenient"),
)
_COVERAGE_RULES: Final = (
    _Member("CleanShutdown", "is_clean_shutdown", check_flag),
    _Member("CoveredSeconds", "covered_seconds", partial(check_amount, most=MINUTE_S), "needed"),
    _Member("Reports", "reports", check_count, "needed"),
)
"""The members before and after the labels, in the order of the line."""

_UNKNOWN_RULES: Final = (
    _Member("UnknownReason", "unknown_reason", re.compile("|".join(UNKNOWN_REASONS)), "lenient"),
)
"""Members written after the counts of cores, if a core is unknown."""

_MEMBER_RULES: Final = (*_IDENTITY_RULES, *_COVERAGE_RULES, *_UNKNOWN_RULES)


def _read_rules(line: JsonObject, fields: Members) -> None:
    """
    Add the members of `_MEMBER_RULES` to *fields*.

    Raises:
        WireFormatError: If a needed member is missing, or a member has an impossible value.
    """
    for member, name, accepts, need in _MEMBER_RULES:
        value = line.get(member)
        if value is None:
            if need == "needed":
                raise WireFormatError(MISSING_MEMBER, f"the line has no {member}")
        elif not isinstance(accepts, re.Pattern):
            fields[name] = accepts(value, member)
        elif isinstance(value, str) and accepts.fullmatch(value):
            fields[name] = value
        elif need != "lenient":
            raise WireFormatError(
                BAD_MEMBER, f"{member} is not a text of the form {accepts.pattern}"
            )


# Never changed, but not frozen: creating a frozen object takes three times as long.
@dataclass(slots=True)
class MinuteRecord:
    """
    One minute of one instance.

    Attributes:
        cluster: Cluster name, the rollup key. Printable ASCII, never empty.

        instance_id: Instance id, for example `i-0123456789abcdef0`. Never empty.

        boot: Identity of one run of the emitter; greater means started later.

        seq: Number of the record within its boot, from 1 without gaps.

        minute_ms: Start of the minute, milliseconds since the Unix epoch.

        covered_seconds: Seconds that utilization samples cover, 0 to 60.

        reports: neuron-monitor reports read in this minute.

        core_state: One letter per core, `b`, `a`, `u` or `?`, in core order;
            empty when the number of cores is unknown.

        utilization_percent: Per core, 0 to 100, None exactly where the state
            is `?`.

        idle_minutes: Per core, consecutive whole minutes in which it was not busy.

        holders: Holders of the attached-idle cores, the longest idle first.

        holders_more: The number of further holders.

        owners: The cores that each owner held, busy or not, and those reserved for it, most cores
            first. Empty in a line of an older emitter.

        owners_more: The held and reserved cores without a listed owner, as ranges.

        reservations: `known`, `unknown`, or `none` if there is no scheduler: whether its
            assignments were read.

        account_id: The AWS account of the instance, 12 digits.

        lifecycle: The purchasing option from the metadata service, such as `spot`.

        paid: `committed` or `avoidable`, if the operator of the emitter set it.

        unknown_reason: The reason of most unknown cores, one of `UNKNOWN_REASONS`; None in a line
            of an older emitter.

        labels: Members for people, which the stack does not read: the instance's name, versions of
            its hardware.

        readings: Numbers by the name of their member, for every member of the catalogue with
            `merges`; absent if they were not read.

        details: Failed executions by type, `FAILURES` of the catalogue, and errors by cause;
            only those above 0.

        health: The emitter's own members, cumulative since its boot.

    Every other field is None if it was not read; units are in the names.
    """

    cluster: str
    instance_id: str
    boot: str
    seq: int
    minute_ms: int
    covered_seconds: float
    reports: int
    core_state: str = ""
    utilization_percent: Percents = ()
    idle_minutes: tuple[int, ...] = ()
    identity_guessed: bool = False
    is_clean_shutdown: bool = False
    instance_type: str | None = None
    region: str | None = None
    availability_zone: str | None = None
    ultraserver_id: str | None = None
    executions: int | None = stands_as("Executions")
    execution_errors: int | None = stands_as("ExecutionErrors")
    latency_p50_mean_s: float | None = stands_as("LatencyP50Mean")
    latency_p99_max_s: float | None = stands_as("LatencyP99Max")
    tera_flops: float | None = stands_as("TeraFlops")
    device_memory_used_bytes: int | None = stands_as("DeviceMemoryUsed")
    device_memory_total_bytes: int | None = stands_as("DeviceMemoryTotal")
    ecc_corrected_rise: int | None = stands_as("EccCorrectedRise")
    ecc_uncorrected_rise: int | None = stands_as("EccUncorrectedRise")
    holders: tuple[Holder, ...] = ()
    holders_more: int = 0
    owners: tuple[Owner, ...] = ()
    owners_more: str = ""
    reservations: str | None = None
    account_id: str | None = None
    lifecycle: str | None = None
    paid: str | None = None
    unknown_reason: str | None = None
    labels: Mapping[str, str | int] = field(default_factory=dict)
    readings: Mapping[str, Number] = field(default_factory=dict)
    details: Counts = field(default_factory=dict)
    health: Mapping[str, Number] = field(default_factory=dict)

    @property
    def epoch_minute(self) -> int:
        """The minute, whole minutes since the Unix epoch."""
        return self.minute_ms // MINUTE_MS

    @property
    def has_executions(self) -> bool:
        """True if an execution of the minute is known to have ended or failed."""
        return bool(self.executions or self.execution_errors)

    @property
    def known_cores(self) -> int:
        """The number of cores whose state is known."""
        return len(self.core_state) - self.core_state.count(UNKNOWN_STATE)

    @property
    def is_allocation_unknown(self) -> bool:
        """True if scheduler assignments were not read: an unattached core may be reserved."""
        return self.reservations in {None, RESERVATIONS_UNKNOWN}

    @property
    def reserved(self) -> set[int]:
        """The unattached cores that the scheduler assigned to an owner, if known."""
        cores: set[int] = set()
        for owner in self.owners:
            if owner.reserved:
                cores.update(core_indexes(owner.reserved))
        for core in core_indexes(self.owners_more):
            if self.core_state[core] == UNATTACHED_STATE:
                cores.add(core)
        return cores

    def number(self, member: str) -> Number | None:
        """Return the number of *member* in the line, whether a field or a reading."""
        name = FIELDS.get(member)
        if name is None:
            return self.readings.get(member)
        found: Number | None = getattr(self, name)
        return found

    def members(self) -> Members:
        """
        Return the record as the members of its line, scalars first, without `_aws`.

        Unknown values have no member. Neither have values that every reader rejects (negative, not
        finite, beyond 64 bits): it is better to lose a number than the whole minute. An amount that
        is not a count has six significant digits, covered seconds have two decimals. Without a
        known core there is no utilization member and no busy or idle count: they would be zeros
        without a measurement.
        """
        line: Members = {"Schema": VERSION, "Kind": MINUTE_KIND}
        self._write(_IDENTITY_RULES, line)
        line.update(self.labels)
        self._write(_COVERAGE_RULES, line)
        line["CoveredSeconds"] = round(self.covered_seconds, 2)
        line.update(self._core_counts())
        if line.get("UnknownCores"):
            self._write(_UNKNOWN_RULES, line)
        numbers = ((member, self.number(member)) for member, _, _ in MINUTE_NUMBERS)
        line.update(_acceptable(chain(numbers, self.details.items(), self.health.items())))
        if self.holders_more > 0:
            line["HoldersMore"] = self.holders_more
        if self.owners_more:
            line["OwnersMore"] = self.owners_more
        if self.core_state:
            line["CoreState"] = self.core_state
            line.update(utilization_members(self.utilization_percent))
            line["CoreIdleMinutes"] = list(self.idle_minutes)
        if self.owners:
            line["Owners"] = owner_members(self.owners)
        if self.holders:
            line["Holders"] = holder_members(self.holders)
        return line

    def _write(self, rules: Iterable[_Member], line: Members) -> None:
        """Write the members of *rules* that have a value; a flag only if it is set."""
        for member, name, accepts, need in rules:
            value = getattr(self, name)
            if value is None or value is False:
                continue
            if (
                need == "lenient"
                and isinstance(accepts, re.Pattern)
                and not accepts.fullmatch(value)
            ):
                continue
            line[member] = value

    def _core_counts(self) -> Members:
        state = self.core_state
        if not state:
            return {}
        unknown = state.count(UNKNOWN_STATE)
        counts: Members = {"NeuronCores": len(state)}
        if unknown < len(state):
            counts["BusyCores"] = state.count(BUSY_STATE)
            counts["AttachedIdleCores"] = state.count(ATTACHED_IDLE_STATE)
            counts["UnattachedCores"] = state.count(UNATTACHED_STATE)
            if self.reservations == RESERVATIONS_KNOWN:
                counts["ReservedCores"] = len(self.reserved)
        counts["UnknownCores"] = unknown
        return counts

    @classmethod
    def from_members(cls, line: JsonObject, minute_ms: int) -> MinuteRecord:
        """
        Read a record from the members of its line.

        Unknown members are ignored, so that a function deployed last month still reads an emitter
        installed today. Labels, health and errors by cause are for people and queries: they are not
        read.

        Raises:
            WireFormatError: If a member that identifies the record is missing, or any member has an
                impossible type or range.
        """
        if minute_ms % MINUTE_MS or not 0 <= minute_ms < _MAX_TIME_MS:
            raise WireFormatError(BAD_MEMBER, "the timestamp is not the start of a minute")
        state = read_core_state(line)
        fields, readings = read_amounts(line)
        _read_rules(line, fields)
        holders, holders_more = read_holders(line)
        owners, owners_more = read_owners(line, state)
        return cls(
            minute_ms=minute_ms,
            core_state=state,
            utilization_percent=read_utilization(line, state),
            idle_minutes=read_idle_minutes(line, state),
            holders=holders,
            holders_more=holders_more,
            owners=owners,
            owners_more=owners_more,
            readings=readings,
            details=_failures(line) if fields.get("execution_errors") else {},
            **fields,  # type: ignore[arg-type]  # the tables pair each name with its type
        )


FIELDS: Final = {member: name for name, member, _ in stated_fields(MinuteRecord)}
"""Members of a line that have a field of the record, and its name."""

MINUTE_NUMBERS: Final = tuple(
    (member.name, FIELDS.get(member.name), int if member.is_whole else float)
    for member in CATALOGUE_MEMBERS
    if MINUTE_KIND in member.kinds and (member.merges or member.name in FIELDS)
)
"""The numbers in the order of the line: name, field (None for a reading), type."""


def _failures(line: JsonObject) -> Counts:
    """Return how executions failed, as far as the line can be read."""
    return filled({name: count_in(line, name) for name in FAILURES})
