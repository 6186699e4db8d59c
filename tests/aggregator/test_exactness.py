"""
Exact from input: whatever happens to the records on their way, the rollups are right.

Records are delivered in any order, split and repeated in any way, functions are
killed at any step, runs meet each other in the middle. In the end the last line
of each minute and cluster has the gauges, and all its lines together have the
tallies, that `reference.py` works out from the records alone.
"""

from __future__ import annotations

import json
from collections import defaultdict
from dataclasses import dataclass, field

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aggregator.closing import Closing, Outcome
from aggregator.environment import Rules
from aggregator.intake import take_in
from neuron_wire import MinuteRecord, emf
from neuron_wire.catalogue import ROLLUP
from tests.aggregator import reference
from tests.aggregator.made_records import MINUTE, lines, record
from tests.aggregator.memory_table import KilledError, MemoryTable, Process

RULES = Rules()
TALLIES = [name for name, metric in ROLLUP.items() if metric.family == "tally"]
BOOTS = ("019a000000aa00000000", "019a000000bb00000000", "019a000000cc00000000")


@dataclass
class World:
    """
    The table, the clock and everything that was printed.
    """

    now_s: float
    table: MemoryTable = field(default_factory=MemoryTable)
    printed: list[str] = field(default_factory=list)
    failed: list[list[MinuteRecord]] = field(default_factory=list)
    stored: set[tuple] = field(default_factory=set)

    def deliver(self, records, *, pause=None, **fate) -> None:
        """
        One invocation of ingest; what it leaves undone is delivered again later.

        *pause* happens between storing and reading the clock.
        """
        process = Process(self.table, self.printed, **fate)
        moments = iter([lambda: None, pause or (lambda: None)])

        def now_s() -> float:
            next(moments, lambda: None)()
            return self.now_s

        try:
            take_in(lines(*records), process, RULES.late_minutes, now_s)
        except KilledError:
            self.failed.append(list(records))
        else:
            self.stored.update(identity(one) for one in records)

    def close(self, *, patience: int = 10_000, **fate) -> Outcome | None:
        """
        One invocation of close, with time for *patience* looks at the clock.
        """
        process = Process(self.table, self.printed, **fate)
        looks = iter(range(patience))
        closing = Closing(
            table=process,
            rules=RULES,
            emit=process.emit,
            now_s=lambda: self.now_s,
            remaining_s=lambda: 50.0 if next(looks, None) is not None else 0.0,
        )
        try:
            return closing.run()
        except KilledError:
            return None

    def settle(self) -> None:
        """
        Lambda's own retries, then as many runs as it takes.
        """
        while self.failed:
            self.deliver(self.failed.pop())
        for _ in range(6):
            self.now_s += 60
            self.close()

    def rollups(self) -> dict[tuple[str, str], list[dict]]:
        """
        The lines of each (minute, cluster), the last of each RollupId.
        """
        found: dict[tuple[str, str], dict[str, dict]] = defaultdict(dict)
        for text in self.printed:
            assert [] == emf.violations(text)
            assert len(text.encode()) <= 32 * 1024
            line = json.loads(text)
            own = found[line["_aws"]["Timestamp"] // 60_000, line["ClusterName"]]
            own.pop(line["RollupId"], None)
            own[line["RollupId"]] = line
        return {key: list(own.values()) for key, own in found.items()}


@st.composite
def minute_records(draw, boots=BOOTS):
    """
    One record, with an identity that follows from its place.
    """
    state = draw(st.text("bau?", max_size=3))
    percent = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100)
    count = st.none() | st.integers(0, 50)
    offset, part = draw(st.integers(0, 3)), draw(st.integers(0, 1))
    seconds = st.sampled_from([0.0, 6.0, 30.0, 33.0, 36.0, 60.0])
    return record(
        cluster=draw(st.sampled_from(["training", "serving"])),
        instance_id=draw(st.sampled_from(["i-1", "i-2", "i-3"])),
        boot=draw(st.sampled_from(boots)),
        seq=2 * offset + part + 1,
        minute=MINUTE + offset,
        covered_seconds=draw(seconds),
        core_state=state,
        utilization_percent=tuple(None if one == "?" else draw(percent) for one in state),
        idle_minutes=tuple(0 if one == "b" else draw(st.integers(10, 20)) for one in state),
        instance_type=draw(st.sampled_from([None, "trn1.2xlarge", "inf2.xlarge", "trn9.huge"])),
        bye=draw(st.booleans()),
        executions=draw(count),
        execution_errors=draw(count),
        latency_p50_mean_s=draw(st.none() | st.sampled_from([0.25, 0.5])),
        latency_p99_max_s=draw(st.none() | st.sampled_from([0.25, 0.5])),
        device_memory_used_bytes=draw(count),
        ecc_corrected_rise=draw(count),
        ecc_uncorrected_rise=draw(count),
    )


def identity(one: MinuteRecord):
    return one.cluster, one.instance_id, one.boot, one.seq


def universes(records):
    return st.lists(records, min_size=1, max_size=12, unique_by=identity)


ONE_EACH = universes(minute_records(boots=BOOTS[:1]).filter(lambda one: one.seq % 2))
"""Records of instances with one emitter that never restarts: nothing to merge."""

STEPS = st.none() | st.integers(1, 3) | st.integers(1, 60) | st.integers(1, 400)
FATES = st.fixed_dictionaries(
    {
        "what": st.sampled_from(["deliver", "close"]),
        "shares": st.lists(st.integers(0, 99), max_size=6),
        "wait_s": st.integers(0, 90),
        "killed_at": STEPS,
        "after": st.booleans(),
        "meets_at": STEPS,
        "meets": st.sampled_from(["deliver", "close"]),
        "meets_shares": st.lists(st.integers(0, 99), max_size=3),
        "patience": st.sampled_from([10_000, 10_000, 90, 40]),
    }
)


def live_through(records, fates) -> World:
    """
    Everything of *fates* happens to *records*; what never arrived does, and all settles.

    A delivery takes wait_s between storing and reading the clock, and
    closing runs in that time.
    """
    world = World(now_s=(MINUTE + 1) * 60 + 20.0)

    def chosen(shares):
        return [records[share * len(records) // 100] for share in shares]

    for fate in fates:

        def meets(fate=fate):
            if fate["meets"] == "deliver":
                world.deliver(chosen(fate["meets_shares"]))
            else:
                world.close()

        def pause(fate=fate):
            world.now_s += fate["wait_s"]
            world.close()

        interference = {name: fate[name] for name in ("killed_at", "after", "meets_at")}
        if fate["what"] == "deliver":
            world.deliver(chosen(fate["shares"]), pause=pause, meets=meets, **interference)
        else:
            world.close(patience=fate["patience"], meets=meets, **interference)
        world.now_s += fate["wait_s"]
    world.deliver([one for one in records if identity(one) not in world.stored])
    world.settle()
    return world


def compare(world: World, records, *, may_overstate: bool) -> None:
    """
    Gauges of the last line, and tallies of all lines, are the reference's.
    """
    found = world.rollups()
    expected = reference.rollups(records)
    assert expected.keys() <= found.keys()
    for key, numbers in expected.items():
        published = found[key]
        last = published[-1]
        silent = last["SilentInstances"]
        covered_s, count = numbers.pop("CoveredSeconds"), numbers.pop("Records")
        numbers["CoveragePercent"] = 100 * covered_s / (60 * (numbers["Instances"] + silent))
        numbers["LateRecords"] = count - published[0]["Records"]
        assert count == last["Records"]
        overstated = last.get("TalliesOverstated", {})
        assert may_overstate or not overstated
        for name in ROLLUP.keys() - {"SilentInstances", "TeraFlops", "DeviceMemoryPercent"}:
            if name in TALLIES:
                amounts = [line[name] for line in published if name in line]
                assert all(amount >= 0 for amount in amounts)
                actual = sum(amounts) - overstated.get(name, 0) if amounts else None
            else:
                actual = last.get(name)
            if name in numbers:
                assert actual is not None, name
                assert numbers[name] == pytest.approx(actual, abs=0.011), name
            else:
                assert not actual, name


@pytest.mark.timeout(60)
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(ONE_EACH, st.lists(FATES, max_size=8))
def test_gauges_are_the_last_line_and_tallies_the_sum_of_all(records, fates):
    """
    With one emitter on each instance both are exact, whatever happened.
    """
    compare(live_through(records, fates), records, may_overstate=False)


@pytest.mark.timeout(60)
@settings(suppress_health_check=[HealthCheck.too_slow])
@given(universes(minute_records()), st.lists(FATES, max_size=8))
def test_with_restarts_and_second_emitters_a_line_names_what_it_cannot_take_back(records, fates):
    """
    Where a late record makes an amount smaller, the last line says by how much
    the sum is too high; apart from that everything is exact.
    """
    compare(live_through(records, fates), records, may_overstate=True)


@pytest.mark.timeout(60)
@settings(max_examples=50)
@given(universes(minute_records()), st.data())
def test_order_copies_and_invocations_do_not_matter(records, data):
    """
    Delivered twice, shuffled and cut anyhow before the minutes close, the
    records give the same bytes as delivered once in one piece.
    """
    start_s = (MINUTE + 1) * 60
    plain, shuffled = World(start_s), World(start_s)
    plain.deliver(records)
    remaining = data.draw(st.permutations(records * 2))
    while remaining:
        size = data.draw(st.integers(1, len(remaining)))
        shuffled.deliver(remaining[:size])
        remaining = remaining[size:]
    plain.settle()
    shuffled.settle()
    assert plain.printed == shuffled.printed


@pytest.mark.timeout(60)
@settings(max_examples=50)
@given(universes(minute_records()))
def test_closing_again_prints_nothing(records):
    """
    Once everything is told, a redelivery of everything is told nobody.
    """
    world = World((MINUTE + 1) * 60)
    world.deliver(records)
    world.settle()
    told = [one for one in world.printed if json.loads(one)["Records"]]
    world.deliver(records)
    world.settle()
    assert told == [one for one in world.printed if json.loads(one)["Records"]]
    assert {} == world.table.markers


def test_a_late_record_restates_the_gauges_and_adds_its_own_tallies():
    """
    One instance in time with 100 executions, another late with 7: the second
    line has the gauges of both and the tallies of the second alone.
    """
    world = World((MINUTE + 1) * 60 + 10)
    world.deliver([record(instance_id="i-1", execution_errors=None)])
    world.settle()
    world.deliver([record(instance_id="i-2", executions=7, execution_errors=3)])
    world.settle()
    first, second = world.rollups()[MINUTE, "training"]
    assert ["training@2025-11-24T16:00Z#1", "training@2025-11-24T16:00Z#2"] == [
        first["RollupId"],
        second["RollupId"],
    ]
    names = ["Instances", "NeuronCores", "IdleCores", "Executions", "LateRecords"]
    assert [1, 2, 1, 100, 0] == [first[name] for name in names]
    assert [2, 4, 2, 7, 1] == [second[name] for name in names]
    assert "ExecutionErrors" not in first
    assert 3 == second["ExecutionErrors"]
    assert first["_aws"]["Timestamp"] == second["_aws"]["Timestamp"] == MINUTE * 60_000


@pytest.mark.parametrize("after", [False, True])
def test_a_run_killed_at_any_step_costs_nothing(after):
    """
    Killed at each of its steps in turn, a run leaves everything to the next one.
    """
    records = [record(instance_id=f"i-{number}") for number in range(3)]
    undisturbed = World((MINUTE + 1) * 60)
    undisturbed.deliver(records)
    undisturbed.settle()
    expected = undisturbed.rollups()[MINUTE, "training"]
    step = 0
    while True:
        step += 1
        world = World((MINUTE + 1) * 60)
        world.deliver(records)
        world.now_s += 50
        outcome = world.close(killed_at=step, after=after)
        world.settle()
        assert expected == world.rollups()[MINUTE, "training"]
        if outcome is not None:
            break
    assert step > 32 * 5


@pytest.mark.timeout(60)
def test_a_delivery_in_the_middle_of_a_run_is_never_lost():
    """
    While a marked minute is being restated, another record for it arrives: at
    whichever step, it is counted by this run or by the next.
    """
    step = 0
    while True:
        step += 1
        world = World((MINUTE + 1) * 60)
        world.deliver([record(instance_id="i-1")])
        world.settle()
        world.deliver([record(instance_id="i-2")])
        world.close(
            meets_at=step, meets=lambda world=world: world.deliver([record(instance_id="i-3")])
        )
        arrived = ("training", "i-3", record().boot, 1) in world.stored
        world.settle()
        assert (3 if arrived else 2) == world.rollups()[MINUTE, "training"][-1]["Instances"]
        if not arrived:
            break
    assert step > 32
