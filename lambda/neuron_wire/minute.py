"""
What one instance did in one wall-clock minute, as the stack needs to know it.

One self-contained record: nothing here refers to another line. A number that several rules of
the fold or of the stack use has a field of the record, and `FIELDS` gives its name in the line;
every other number is a reading, which only the catalogue knows.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from neuron_wire import cores, line_members, names
from neuron_wire.catalogue import FAILURES, MEMBERS
from neuron_wire.cores import core_indexes
from neuron_wire.holders import Holder, holder_members, read_holders
from neuron_wire.owners import Owner, owner_members, read_owners
from neuron_wire.prices import PAID

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

Number = int | float

_SIGNIFICANT: Final = ".6g"
"""
How an amount that is no count is written. neuron-monitor's own numbers are
means of a period and no more exact; every further digit is a byte of every line.
"""

FIELDS: Final = {
    "Executions": "executions",
    "ExecutionErrors": "execution_errors",
    "LatencyP50Mean": "latency_p50_mean_s",
    "LatencyP99Max": "latency_p99_max_s",
    "DeviceLatencyP50Mean": "device_latency_p50_mean_s",
    "DeviceLatencyP99Max": "device_latency_p99_max_s",
    "LatencyGapP50": "latency_gap_s",
    "TeraFlops": "tera_flops",
    "DeviceMemoryUsed": "device_memory_used_bytes",
    "DeviceMemoryTotal": "device_memory_total_bytes",
    "RuntimeHostMemory": "runtime_host_memory_bytes",
    "EccCorrected": "ecc_corrected",
    "EccUncorrected": "ecc_uncorrected",
    "EccCorrectedRise": "ecc_corrected_rise",
    "EccUncorrectedRise": "ecc_uncorrected_rise",
}

NUMBERS: Final = tuple(
    (member.name, FIELDS.get(member.name), int if member.is_whole else float)
    for member in MEMBERS
    if names.MINUTE in member.kinds and (member.merges or member.name in FIELDS)
)
"""In the order of the line: name, field or None where it is a reading, type."""


def read_amounts(line: Mapping[str, object]) -> tuple[dict[str, Number], dict[str, Number]]:
    """
    The numbers of *line*: those with a field, by field, and the readings, by name.

    Raises:
        WireFormatError: If one has a type or range that cannot be.
    """
    fields: dict[str, Number] = {}
    readings: dict[str, Number] = {}
    for member, name, kind in NUMBERS:
        value = line.get(member)
        if value is None:
            continue
        if type(value) is not kind or not 0 <= value <= line_members.MAX_COUNT:
            # Checked here first, which takes a third of the time of a call for each number.
            check = line_members.check_count if kind is int else line_members.check_amount
            value = check(value, member)
        if name is None:
            readings[member] = value
        else:
            fields[name] = value
    return fields, readings


def round_significant(value: Number) -> Number:
    """*value* as exact as a line says an amount: rounded once, here and nowhere before."""
    return float(format(value, _SIGNIFICANT)) if isinstance(value, float) else value


def acceptable_numbers(numbers: Iterable[tuple[str, Number | None]]) -> dict[str, object]:
    """Those of *numbers* that a reader accepts, as a line has them."""
    # NaN compares false with everything.
    return {
        member: round_significant(value)
        for member, value in numbers
        if value is not None and 0 <= value <= line_members.MAX_COUNT
    }


_BOOT: Final = re.compile(r"[0-9A-Za-z._-]{1,64}")
MAX_CLUSTER_CHARS: Final = 255
MAX_INSTANCE_CHARS: Final = 128
MAX_TEXT_CHARS: Final = 128
_MAX_TIME_MS: Final = 1 << 53  # what a JSON number says exactly everywhere

_TEXTS: Final = (
    ("InstanceType", "instance_type", None),
    ("Region", "region", None),
    ("AvailabilityZone", "availability_zone", None),
    ("UltraServerId", "ultraserver_id", None),
)
_ACCOUNT: Final = re.compile(r"[0-9]{12}")
_LIFECYCLE: Final = re.compile(r"[!-~]{1,40}")
_CHECKS: Final = (
    ("Given", "given", re.compile("|".join(names.GIVEN))),
    ("AccountId", "account_id", _ACCOUNT),
    ("Lifecycle", "lifecycle", _LIFECYCLE),
    ("Paid", "paid", re.compile("|".join(PAID))),
)
"""Texts that a minute can do without: one of another form counts as absent."""


# Never changed, but not frozen: to make a frozen one takes three times as long.
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

        idle_minutes: Per core, whole minutes in a row it has not been busy.

        holders: Who holds the attached-idle cores, the most idle first.

        holders_more: How many more hold some.

        owners: Who held which cores, busy or not, and who has which reserved, most
            cores first. Empty on a line of an emitter that does not say it.

        owners_more: The held and reserved cores that no listed owner has, as ranges.

        given: Whether it was `read` what the scheduler of the instance gave to whom, is
            `unread`, or no scheduler is there, `none`.

        account_id: The AWS account of the instance, 12 digits.

        lifecycle: The purchasing option as the metadata service says it, such as `spot`.

        paid: `sunk` or `avoidable`, where the operator of the emitter said it.

        labels: What people look for and the stack does not read back: the name of
            the instance, versions of its hardware.

        readings: Numbers by the name of their member, for every member of the
            catalogue that says how it `merges`; absent where they were not read.

        details: Failed executions by type, `FAILURES` of the catalogue, and errors by cause;
            only those above 0.

        health: The emitter on itself, cumulative since its boot.

    Every other field is None when it was not read; units are in the names.
    """

    cluster: str
    instance_id: str
    boot: str
    seq: int
    minute_ms: int
    covered_seconds: float
    reports: int
    core_state: str = ""
    utilization_percent: tuple[float | None, ...] = ()
    idle_minutes: tuple[int, ...] = ()
    identity_guessed: bool = False
    bye: bool = False
    instance_type: str | None = None
    region: str | None = None
    availability_zone: str | None = None
    ultraserver_id: str | None = None
    executions: int | None = None
    execution_errors: int | None = None
    latency_p50_mean_s: float | None = None
    latency_p99_max_s: float | None = None
    device_latency_p50_mean_s: float | None = None
    device_latency_p99_max_s: float | None = None
    latency_gap_s: float | None = None
    tera_flops: float | None = None
    device_memory_used_bytes: int | None = None
    device_memory_total_bytes: int | None = None
    runtime_host_memory_bytes: int | None = None
    ecc_corrected: int | None = None
    ecc_uncorrected: int | None = None
    ecc_corrected_rise: int | None = None
    ecc_uncorrected_rise: int | None = None
    holders: tuple[Holder, ...] = ()
    holders_more: int = 0
    owners: tuple[Owner, ...] = ()
    owners_more: str = ""
    given: str | None = None
    account_id: str | None = None
    lifecycle: str | None = None
    paid: str | None = None
    labels: Mapping[str, str | int] = field(default_factory=dict)
    readings: Mapping[str, Number] = field(default_factory=dict)
    details: Mapping[str, int] = field(default_factory=dict)
    health: Mapping[str, Number] = field(default_factory=dict)

    @property
    def neuron_cores(self) -> int | None:
        """Cores of the instance, or None when their number is unknown."""
        return len(self.core_state) or None

    @property
    def has_executions(self) -> bool:
        """Whether an execution of the minute is known to have ended or failed."""
        return bool(self.executions or self.execution_errors)

    @property
    def reserved(self) -> set[int]:
        """Unattached cores that the scheduler has given to somebody, as far as it was read."""
        cores: set[int] = set()
        for owner in self.owners:
            if owner.reserved:
                cores.update(core_indexes(owner.reserved))
        if self.owners_more:
            more, state = core_indexes(self.owners_more), self.core_state
            cores.update([core for core in more if state[core] == names.UNATTACHED])
        return cores

    def number(self, member: str) -> Number | None:
        """The number that stands in a line as *member*, be it a field or a reading."""
        name = FIELDS.get(member)
        if name is None:
            return self.readings.get(member)
        found: Number | None = getattr(self, name)
        return found

    def members(self) -> dict[str, object]:
        """
        The record as the members of its line, scalars first, without `_aws`.

        Absent values have no member, nor have those that no reader accepts
        (negative, not finite, beyond 64 bits): better no number than a minute
        that is refused as a whole. An amount that is no count has six
        significant digits, seconds covered two decimals. With no known core there is no utilization
        member and no busy or idle count: they would be zeros without a
        measurement.
        """
        line: dict[str, object] = {
            "Schema": names.VERSION,
            "Kind": names.MINUTE,
            "Boot": self.boot,
            "Seq": self.seq,
            "ClusterName": self.cluster,
            "InstanceId": self.instance_id,
        }
        if self.identity_guessed:
            line["IdentityGuessed"] = True
        for member, field_name, form in (*_TEXTS, *_CHECKS):
            text = getattr(self, field_name)
            if text is not None and (form is None or form.fullmatch(text)):
                line[member] = text
        line.update(self.labels)
        if self.bye:
            line["Bye"] = True
        line["CoveredSeconds"] = round(self.covered_seconds, 2)
        line["Reports"] = self.reports
        line.update(self._core_counts())
        readings = self.readings
        line.update(
            acceptable_numbers(
                (member, readings.get(member) if name is None else getattr(self, name))
                for member, name, _ in NUMBERS
            )
        )
        line.update(acceptable_numbers(self.details.items()))
        line.update(acceptable_numbers(self.health.items()))
        if self.holders_more > 0:
            line["HoldersMore"] = self.holders_more
        if self.owners_more:
            line["OwnersMore"] = self.owners_more
        if self.core_state:
            line["CoreState"] = self.core_state
            line.update(cores.utilization_members(self.utilization_percent))
            line["CoreIdleMinutes"] = list(self.idle_minutes)
        if self.owners:
            line["Owners"] = owner_members(self.owners)
        if self.holders:
            line["Holders"] = holder_members(self.holders)
        return line

    def _core_counts(self) -> dict[str, object]:
        state = self.core_state
        if not state:
            return {}
        unknown = state.count(names.UNKNOWN)
        counts: dict[str, object] = {"NeuronCores": len(state)}
        if unknown < len(state):
            counts["BusyCores"] = state.count(names.BUSY)
            counts["AttachedIdleCores"] = state.count(names.ATTACHED_IDLE)
            counts["UnattachedCores"] = state.count(names.UNATTACHED)
            if self.given == names.READ:
                counts["ReservedCores"] = len(self.reserved)
        counts["UnknownCores"] = unknown
        return counts

    @classmethod
    def from_members(cls, line: Mapping[str, object], minute_ms: int) -> MinuteRecord:
        """
        Read a record back from the members of its line.

        Members we do not know are ignored, so that a function deployed last
        month still reads an emitter installed today. Labels, health and errors by cause are
        for people and for queries: they are not read back.

        Raises:
            WireFormatError: If a member that identifies the record is missing
                or any member has a type or range that cannot be.
        """
        state = cores.read_core_state(line)
        amounts, readings = read_amounts(line)
        fields: dict[str, object] = dict(amounts)
        for member, name, _ in _TEXTS:
            if line.get(member) is not None:
                fields[name] = line_members.read_text(line, member, MAX_TEXT_CHARS)
        if minute_ms % names.MINUTE_MS or not 0 <= minute_ms < _MAX_TIME_MS:
            msg = "the timestamp is not the start of a minute"
            raise line_members.bad_member(msg)
        covered_s = line_members.read_number(line, "CoveredSeconds")
        if not 0 <= covered_s <= names.MINUTE_S:
            msg = f"CoveredSeconds is {covered_s}, expected 0 to {names.MINUTE_S}"
            raise line_members.bad_member(msg)
        for member, name, form in _CHECKS:
            value = line.get(member)
            if isinstance(value, str) and form.fullmatch(value):
                fields[name] = value
        boot = line_members.read_text(line, "Boot", 64)
        if not _BOOT.fullmatch(boot):
            msg = "Boot holds characters outside [0-9A-Za-z._-]"
            raise line_members.bad_member(msg)
        seq = line_members.read_count(line, "Seq")
        if seq < 1:
            msg = f"Seq is {seq}, expected 1 or more"
            raise line_members.bad_member(msg)
        held_by, holders_more = read_holders(line)
        owners, owners_more = read_owners(line, state)
        return cls(
            cluster=line_members.read_text(line, "ClusterName", MAX_CLUSTER_CHARS),
            instance_id=line_members.read_text(line, "InstanceId", MAX_INSTANCE_CHARS),
            boot=boot,
            seq=seq,
            minute_ms=minute_ms,
            covered_seconds=covered_s,
            reports=line_members.read_count(line, "Reports"),
            core_state=state,
            utilization_percent=cores.read_utilization(line, state),
            idle_minutes=cores.read_idle_minutes(line, state),
            identity_guessed=line_members.read_flag(line, "IdentityGuessed"),
            bye=line_members.read_flag(line, "Bye"),
            holders=held_by,
            holders_more=holders_more,
            owners=owners,
            owners_more=owners_more,
            readings=readings,
            details=_failures(line) if amounts.get("execution_errors") else {},
            **fields,  # type: ignore[arg-type]  # the table pairs each name with its type
        )


def _failures(line: Mapping[str, object]) -> dict[str, int]:
    """How executions failed, as far as that can be read."""
    counts = {name: line_members.count_in(line, name) for name in FAILURES}
    return {name: count for name, count in counts.items() if count}
