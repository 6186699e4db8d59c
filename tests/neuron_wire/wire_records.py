"""Strategies for minute records as an emitter writes them, and a minute line written by hand."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from local.alarms.template import load
from neuron_wire import MinuteRecord, catalogue
from neuron_wire.catalogue import MINUTE_METRICS, READING_MEMBERS
from neuron_wire.core_members import core_ranges
from neuron_wire.holders import MAX_COMMAND_CHARS, MAX_HOLDERS, Holder
from neuron_wire.line import emf_line
from neuron_wire.names import PAID_VALUES, RESERVATIONS_VALUES, UNKNOWN_REASONS
from neuron_wire.owners import Holding, Owned, Owner, group_holdings, list_owners

if TYPE_CHECKING:
    from hypothesis.strategies import SearchStrategy

WIRE_MINUTE_MS = 1_800_000_000_000

PRINTABLE_LETTERS = st.characters(min_codepoint=0x20, max_codepoint=0x7E)
WIRE_COUNTS = st.integers(0, (1 << 63) - 1)
ANY_AMOUNTS = st.floats(0, 2.0**62).map(lambda value: float(f"{value:.6g}"))
WIRE_PERCENTS = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100)

OPTIONAL_COUNTS = [
    field.name for field in dataclasses.fields(MinuteRecord) if field.type == "int | None"
]
OPTIONAL_AMOUNTS = [
    field.name for field in dataclasses.fields(MinuteRecord) if field.type == "float | None"
]

READING = {
    name: WIRE_COUNTS if reading.is_whole else ANY_AMOUNTS
    for name, reading in READING_MEMBERS.items()
}


def texts(longest: int) -> SearchStrategy[str]:
    """Generate names: printable and not blank."""
    return st.text(PRINTABLE_LETTERS, min_size=1, max_size=longest).filter(str.strip)


TESTS_DATA = Path(__file__).parents[1] / "data"
V1_FOLDER = TESTS_DATA / "wire" / "v1"
STACK_TEMPLATE_FILE = Path(__file__).parents[2] / "template.yaml"
PARAMETERS = load(STACK_TEMPLATE_FILE.read_text("utf-8"))["Parameters"]


@st.composite
def nearly(draw: Any, texts: Any, signs: str) -> str:
    """Generate near misses: a text of *texts* with one character inserted, replaced or removed."""
    text = draw(texts)
    at = draw(st.integers(0, len(text)))
    put = draw(st.sampled_from(["", *signs]))
    return text[:at] + put + text[at + draw(st.integers(0, 1)) :]


@st.composite
def holders(draw: Any) -> tuple[Holder, ...]:
    """Generate at most MAX_HOLDERS holders, each with any members absent."""
    cores = st.sets(st.integers(0, 127), min_size=1, max_size=9).map(core_ranges)
    name = st.none() | texts(20)
    moment = st.none() | st.just("2026-11-22T02:10Z")
    holder = st.builds(
        Holder,
        cores=cores,
        name=name,
        pid=st.none() | WIRE_COUNTS,
        tag=name,
        team=name,
        last_execution=moment,
        gone=st.booleans(),
        assigned_to=name,
        started=moment,
        command=st.none() | texts(MAX_COMMAND_CHARS),
    )
    return tuple(draw(st.lists(holder, max_size=MAX_HOLDERS)))


@st.composite
def holdings(draw: Any, state: str) -> list[Holding]:
    """Generate holders and reservations of *state*, with repeated, missing and long names."""
    if not state:
        return []
    held = st.sets(st.integers(0, len(state) - 1), max_size=9)
    free = [core for core, letter in enumerate(state) if letter == "u"]
    reserved = st.sets(st.sampled_from(free), max_size=9) if free else st.just(set())
    names = st.none() | st.sampled_from(["", "ml/llama-0", "[unnamed]"]) | st.text(max_size=150)
    teams = st.none() | st.sampled_from(["search", "ml"]) | st.text(max_size=70)
    done = st.none() | st.sampled_from([0, 0, 7])
    holder = st.builds(Holding, names, held, teams, st.just(()), done)
    other = st.builds(Holding, names, st.just(()), teams, reserved)
    return draw(st.lists(holder | other, max_size=48))


def quieted(given: list[Holding]) -> Owned:
    """Return the owners as an emitter lists them: owners without executions have quiet minutes."""
    by_name = group_holdings(given)
    for place, holding in enumerate(by_name.values()):
        is_known = holding.executions is not None or not holding.cores
        holding.quiet_minutes = 1 + place if is_known and not holding.executions else None
    return list_owners(by_name)


def owners(state: str) -> SearchStrategy[Owned]:
    """Generate the owners of a line with *state*, and the cores of omitted owners."""
    return holdings(state).map(quieted)


@st.composite
def records(draw: Any, min_cores: int = 0, max_cores: int = 140) -> MinuteRecord:
    """Generate records of *min_cores* to *max_cores* cores, with any members absent."""
    cores = draw(st.integers(min_cores, max_cores))
    # A repeated short pattern: drawing a thousand letters takes seconds.
    pattern = draw(
        st.lists(st.tuples(st.sampled_from("bau?"), WIRE_PERCENTS), min_size=1, max_size=9)
    )
    drawn = (pattern * (cores // len(pattern) + 1))[:cores]
    idle = draw(st.lists(st.integers(0, 100_000), min_size=1, max_size=5))
    optional = {name: draw(st.none() | WIRE_COUNTS) for name in OPTIONAL_COUNTS}
    optional.update({name: draw(st.none() | ANY_AMOUNTS) for name in OPTIONAL_AMOUNTS})
    state = "".join(letter for letter, _ in drawn)
    named, owners_more = draw(owners(state))
    failures = st.dictionaries(
        st.sampled_from(sorted(catalogue.FAILURES)), WIRE_COUNTS.filter(bool)
    )
    return MinuteRecord(
        cluster=draw(texts(255)),
        instance_id=draw(texts(128)),
        boot=draw(st.from_regex(r"[0-9a-f]{20}", fullmatch=True)),
        seq=draw(st.integers(1, (1 << 63) - 1)),
        minute_ms=draw(st.integers(0, 50_000_000)) * 60_000,
        covered_seconds=draw(st.integers(0, 6000)) / 100,
        reports=draw(WIRE_COUNTS),
        core_state=state,
        utilization_percent=tuple(None if letter == "?" else value for letter, value in drawn),
        idle_minutes=tuple((idle * (cores // len(idle) + 1))[:cores]),
        identity_guessed=draw(st.booleans()),
        is_clean_shutdown=draw(st.booleans()),
        instance_type=draw(st.none() | texts(128)),
        region=draw(st.none() | texts(128)),
        availability_zone=draw(st.none() | texts(128)),
        ultraserver_id=draw(st.none() | texts(128)),
        holders=draw(holders()),
        holders_more=draw(st.integers(0, 9)),
        owners=named,
        owners_more=owners_more,
        reservations=draw(st.none() | st.sampled_from(RESERVATIONS_VALUES)),
        account_id=draw(st.none() | st.from_regex(r"[0-9]{12}", fullmatch=True)),
        lifecycle=draw(st.none() | st.sampled_from(["on-demand", "spot", "capacity-block"])),
        paid=draw(st.none() | st.sampled_from(PAID_VALUES)),
        unknown_reason=draw(st.none() | st.sampled_from(UNKNOWN_REASONS)) if "?" in state else None,
        details=draw(failures) if optional["execution_errors"] else {},
        readings={name: draw(numbers) for name, numbers in READING.items() if draw(st.booleans())},
        **optional,
    )


_LONGEST_BY_UNIT = {
    "Bytes": 2_199_023_255_552,
    "Count": 12_345,
    "Percent": 99.99,
    "Seconds": 0.123456789,
    "None": 12_345.6789,
}

LONGEST_RECORD: dict[str, Any] = {
    "boot": "01a1fd4e75ef2470b16e",
    "cluster": "llm-pretraining-production-blue1",
    "instance_id": "i-0123456789abcdef0",
    "seq": 44_640,
    "covered_seconds": 59.99,
    "reports": 60,
    "is_clean_shutdown": True,
    "instance_type": "trn2u.48xlarge",
    "region": "ap-southeast-2",
    "availability_zone": "ap-southeast-2a",
    "ultraserver_id": "us-0123456789abcdef0",
    "account_id": "123456789012",
    "lifecycle": "capacity-block",
    "executions": 123_456_789,
    "execution_errors": 12_345_678,
    "latency_p50_mean_s": 0.012345678,
    "latency_p99_max_s": 0.123456789,
    "tera_flops": 12_345.6789,
    "device_memory_used_bytes": 1_649_267_441_664,
    "device_memory_total_bytes": 1_649_267_441_664,
    "readings": {
        **{name: _LONGEST_BY_UNIT[reading.unit] for name, reading in READING_MEMBERS.items()},
        "EccCorrected": 1_234_567,
        "EccUncorrected": 123_456,
    },
}

LABELS: dict[str, str | int] = {
    "InstanceName": "llm-pretraining-worker-7",
    "NeuronDeviceVersion": "v4",
    "NeuronCoreVersion": "v3d",
    "LogicalNeuronCoreConfig": 2,
}

IN_THE_WORST_MINUTE = 12_345
ENDINGS = "CompletedWithErr CompletedWithNumErr TimedOut IncorrectInput FailedToQueue"
CAUSE_NAMES = "Generic Numerical Transient Model Runtime Hardware Other"
WORST_FAILURES = {
    **{f"Executions{name}": IN_THE_WORST_MINUTE for name in ENDINGS.split()},
    **{f"Errors{name}": IN_THE_WORST_MINUTE for name in CAUSE_NAMES.split()},
}
RARE_ECC = {"EccUncorrectedReported": IN_THE_WORST_MINUTE}
WORST_HEALTH = {
    "ReportsRead": 2_678_400,
    "ReportsMalformed": 12_345,
    "MonitorRestarts": 12_345,
    "RecordsProduced": 44_640,
    "RecordsDelivered": 12_345,
    "RecordsDropped": 12_345,
    "SpoolRecords": 20_160,
    "SpoolBytes": 268_435_456,
    "EmitterCpuSeconds": 12_345.678,
    "EmitterMemory": 62_914_560,
}
DROPS = "SpoolFull TooOld TooNew TooLarge Expired Invalid Damaged"
RARE_HEALTH = {
    "PartsMalformed": 12_345,
    "RuntimesGone": 12_345,
    "RawReportsTooLarge": 12_345,
    "MinutesDropped": 1_234,
    "EventsDropped": 1_234,
    "ReportLinesWithoutMetrics": 1_234,
    "SpoolRecordsOlder": 20_160,
    "RecordsDroppedOlder": 12_345,
    "SpoolInMemory": 12_345,
    "SpoolsSetAside": 123,
    **{f"Dropped{name}": IN_THE_WORST_MINUTE for name in DROPS.split()},
}


HOLDER = Holder(
    "0-7",
    "ml/llama-0",
    4_194_303,
    "serve",
    "ml",
    last_execution="2026-11-22T02:10Z",
    gone=True,
    assigned_to="ml/llama-1",
    started="2026-11-21T23:59Z",
    command="VLLM::EngineCor",
)


def everything(state: str, idle_for: int = 1_440) -> MinuteRecord:
    """
    Return a record with every member, and numbers as long as after a month of uptime.

    *state* has a letter for each core. Each core that is not busy has been idle for *idle_for*
    minutes.
    """
    percent = {"b": 99.99, "a": 0.63, "u": 0.0, "?": None}
    return MinuteRecord(
        **LONGEST_RECORD,
        paid="avoidable",
        unknown_reason="counters-unreadable" if "?" in state else None,
        labels=LABELS,
        minute_ms=WIRE_MINUTE_MS,
        core_state=state,
        utilization_percent=tuple(percent[letter] for letter in state),
        idle_minutes=tuple(0 if letter == "b" else idle_for for letter in state),
        identity_guessed=True,
        ecc_corrected_rise=123_456,
        ecc_uncorrected_rise=12_345,
        holders=(HOLDER,) * MAX_HOLDERS,
        holders_more=24,
        owners=(Owner("0", "ml/llama-0", "ml", "1", 7, 3),),
        owners_more="0",
        reservations="known",
        details={**WORST_FAILURES, **RARE_ECC, "AssignedUnverifiedCores": 4},
        health={**WORST_HEALTH, **RARE_HEALTH},
    )


def line_with_metrics(members: dict[str, Any], minute_ms: int, sets: list[list[str]]) -> str:
    """Return the line of *members* with each metric among them, in each dimension set."""
    metrics = {name: members[name] for name in MINUTE_METRICS if name in members}
    return emf_line(
        "Neuron",
        dimension_sets=sets,
        metrics=metrics,
        units={name: MINUTE_METRICS[name].unit for name in metrics},
        properties={name: value for name, value in members.items() if name not in metrics},
        timestamp_ms=minute_ms,
    )


def line_of(**changes: Any) -> dict[str, Any]:
    """Return the members of a small minute line, written by hand; None removes a member."""
    whole = {
        "_aws": {"Timestamp": WIRE_MINUTE_MS, "CloudWatchMetrics": []},
        "Schema": 1,
        "Kind": "minute",
        "Boot": "01a1fd4e75ef2470b16e",
        "Seq": 7,
        "ClusterName": "blue",
        "InstanceId": "i-0123456789abcdef0",
        "CoveredSeconds": 59.5,
        "Reports": 12,
        "NeuronCores": 4,
        "CoreState": "ba?u",
        "NeuronCoreUtilization": [97.5, 0.25, 0],
        "CoreIdleMinutes": [0, 3, 2, 60],
    }
    whole.update(changes)
    return {name: value for name, value in whole.items() if value is not None}
