"""A world for the functions: records, their fates, a table and a clock."""

from __future__ import annotations

import json
import os
import signal
import time
from collections import defaultdict
from contextlib import suppress
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from aggregator.close.run import CloseRun
from aggregator.environment import Rules
from aggregator.findings.outbox import FindingsOutlet, StackLogGroups
from aggregator.ingest.intake import take_in
from aggregator.reading.workers import ProcessLostError
from aggregator.storage.values import TableError
from neuron_accounts.prices import Prices
from neuron_wire.extraction import violations
from proof.factories.records import MINUTE, lines, record
from proof.memory_table import KillableProcess, KilledError, MemoryTable

if TYPE_CHECKING:
    from neuron_wire import MinuteRecord

WORLD_RULES = Rules()
WORLD_PRICES = Prices({"inf2.xlarge": 0.6})
WORLD_INSTANCES = ("i-1", "i-2", "i-3")
WORLD_BOOTS = ("019a000000aa00000000", "019a000000bb00000000", "019a000000cc00000000")


class FragileTable:
    """
    A table for a forked process, which ends the process when it reads a given bucket.
    """

    def __init__(self, table, how: str, ends):
        self._table = table
        self._how = how
        self._ends = ends

    def __getattr__(self, name):
        return getattr(self._table, name)

    def read_bucket(self, minute, bucket):
        if self._ends(minute, bucket):
            match self._how:
                case "killed":
                    os.kill(os.getpid(), signal.SIGKILL)
                case "memory":
                    raise MemoryError
                case "pipe":
                    os.closerange(3, 256)
                case "orphan":
                    os.kill(os.getppid(), signal.SIGKILL)
                case "silent":
                    time.sleep(60)
                case "refused":
                    msg = "the table is busy"
                    raise TableError(msg)
        return self._table.read_bucket(minute, bucket)


@dataclass
class ClusterWorld:
    """The table, the clock and all printed lines."""

    now_s: float
    rules: Rules = WORLD_RULES
    table: MemoryTable = field(default_factory=MemoryTable)
    printed: list[str] = field(default_factory=list)
    failed: list[list[MinuteRecord]] = field(default_factory=list)
    stored: set[tuple] = field(default_factory=set)
    sent: list[dict] = field(default_factory=list)
    departed: set[tuple[str, int]] = field(default_factory=set)

    def deliver(self, records, *, in_packs=False, pause=None, **fate) -> None:
        """
        Run ingest once; what it leaves undone is delivered again later.

        Each record has an item of its own, as from CloudWatch Logs, or all are stored *in_packs*.

        *pause* is called after the records are stored and before the clock is read.
        """
        process: Any = KillableProcess(self.table, self.printed, **fate)
        moments = iter([lambda: None, pause or (lambda: None)])

        def now_s() -> float:
            next(moments, lambda: None)()
            return self.now_s

        try:
            take_in(lines(*records), process, self.rules.late_minutes, now_s, in_packs=in_packs)
        except KilledError:
            self.failed.append(list(records))
        else:
            self.stored.update(identity(record) for record in records)

    def depart(self, instance_id, minute, **fate) -> None:
        """Run departure once; EventBridge delivers the event again if the function was killed."""
        with suppress(KilledError):
            KillableProcess(self.table, self.printed, **fate).put_departure(instance_id, minute, 0)
        self.departed.add((instance_id, minute))

    def close(self, *, patience: int = 10_000, processes=1, lost=None, **fate):
        """
        Run close with time for *patience* readings of the clock; return None if it was killed.

        *lost* says how one of its *processes* ends, and at which bucket.
        """
        process: Any = KillableProcess(self.table, self.printed, bus=self.sent, **fate)
        how, at = lost or ("", -1)
        fragile: Any = FragileTable(
            process, how, lambda minute, bucket: (minute + bucket) % 41 == at
        )
        looks = iter(range(patience))
        closing = CloseRun(
            table=process,
            rules=replace(self.rules, prices=WORLD_PRICES),
            emit=process.emit,
            now_s=lambda: self.now_s,
            remaining_s=lambda: 50.0 if next(looks, None) is not None else 0.0,
            processes=processes,
            connect=lambda: fragile,
            outlet=FindingsOutlet(process.put_events, StackLogGroups("records", "rollups")),
        )
        try:
            return closing.run()
        except (KilledError, ProcessLostError):
            return None

    def settle(self) -> None:
        """Run the retries of Lambda and EventBridge, then close until nothing is due."""
        while self.failed:
            self.deliver(self.failed.pop())
        for instance_id, minute in self.departed:
            self.depart(instance_id, minute)
        for _ in range(6):
            self.now_s += 60
            self.close()

    def rollups(self) -> dict[tuple[int, str], list[dict]]:
        """Return the lines of each (minute, cluster), the last line of each RollupId."""
        lines_by_id: dict[tuple[int, str], dict[str, dict]] = defaultdict(dict)
        for text in self.printed:
            assert [] == violations(text)
            assert len(text.encode()) <= 32 * 1024
            line = json.loads(text)
            own = lines_by_id[line["_aws"]["Timestamp"] // 60_000, line["ClusterName"]]
            own.pop(line["RollupId"], None)
            own[line["RollupId"]] = line
        return {key: list(own.values()) for key, own in lines_by_id.items()}


@st.composite
def minute_records(draw, boots=WORLD_BOOTS):
    """Draw a record whose identity follows from its minute, instance and boot."""
    state = draw(st.text("bau?", max_size=3))
    percent = st.integers(0, 10_000).map(lambda hundredths: hundredths / 100)
    count = st.none() | st.integers(0, 50)
    offset = draw(st.integers(0, 3))
    part = draw(st.integers(0, 1))
    seconds = st.sampled_from([0.0, 6.0, 30.0, 33.0, 36.0, 60.0])
    return record(
        cluster=draw(st.sampled_from(["training", "serving"])),
        instance_id=draw(st.sampled_from(WORLD_INSTANCES)),
        boot=draw(st.sampled_from(boots)),
        seq=2 * offset + part + 1,
        minute=MINUTE + offset,
        covered_seconds=draw(seconds),
        core_state=state,
        utilization_percent=tuple(None if letter == "?" else draw(percent) for letter in state),
        idle_minutes=tuple(0 if letter == "b" else draw(st.integers(10, 20)) for letter in state),
        instance_type=draw(st.sampled_from([None, "trn1.2xlarge", "inf2.xlarge", "trn9.huge"])),
        region=draw(st.sampled_from([None, "us-east-1", "eu-north-1"])),
        is_clean_shutdown=draw(st.booleans()),
        executions=draw(count),
        execution_errors=draw(count),
        latency_p50_mean_s=draw(st.none() | st.sampled_from([0.25, 0.5])),
        latency_p99_max_s=draw(st.none() | st.sampled_from([0.25, 0.5])),
        device_memory_used_bytes=draw(count),
        device_memory_total_bytes=draw(count),
        tera_flops=draw(st.none() | st.sampled_from([0.1, 0.2])),
        ecc_corrected_rise=draw(count),
        ecc_uncorrected_rise=draw(count),
        readings=draw(st.just({}) | st.builds(dict, HardwareFaults=st.integers(0, 9))),
    )


def identity(record: MinuteRecord):
    return record.cluster, record.instance_id, record.boot, record.seq


def universes(records):
    return st.lists(records, min_size=1, max_size=12, unique_by=identity)


ONE_EACH = universes(minute_records(boots=WORLD_BOOTS[:1]).filter(lambda record: record.seq % 2))
"""Records of instances with one emitter that never restarts, so that no records need merging."""

KILL_STEPS = st.none() | st.integers(1, 3) | st.integers(1, 60) | st.integers(1, 400)
WORLD_FATES = st.fixed_dictionaries(
    {
        "what": st.sampled_from(["deliver", "close", "deliver", "close", "depart"]),
        "in_packs": st.booleans(),
        "shares": st.lists(st.integers(0, 99), max_size=6),
        "wait_s": st.integers(0, 90),
        "killed_at": KILL_STEPS,
        "after": st.booleans(),
        "meets_at": KILL_STEPS,
        "meets": st.sampled_from(["deliver", "close"]),
        "meets_in_packs": st.booleans(),
        "departure": st.tuples(
            st.sampled_from(WORLD_INSTANCES), st.integers(MINUTE - 1, MINUTE + 9)
        ),
        "meets_shares": st.lists(st.integers(0, 99), max_size=3),
        "patience": st.sampled_from([10_000, 10_000, 90, 40]),
    }
)


def live_through(records, fates, rules=WORLD_RULES) -> ClusterWorld:
    """
    Deliver *records* with their *fates*, then deliver what is missing and close until nothing is
    due.

    Close runs once before that: it does not find a record that came more than 5 minutes before its
    first run and left no marker.

    A delivery takes wait_s between storing and reading the clock, and close runs in that time.
    """
    world = ClusterWorld(MINUTE * 60.0, rules)
    world.close()
    world.now_s += 80

    def chosen(shares):
        return [records[share * len(records) // 100] for share in shares]

    for fate in fates:

        def meets(fate=fate):
            if fate["meets"] == "deliver":
                world.deliver(chosen(fate["meets_shares"]), in_packs=fate["meets_in_packs"])
            else:
                world.close()

        def pause(fate=fate):
            world.now_s += fate["wait_s"]
            world.close()

        interference = {name: fate[name] for name in ("killed_at", "after", "meets_at")}
        if fate["what"] == "deliver":
            interference |= {"in_packs": fate["in_packs"], "pause": pause}
            world.deliver(chosen(fate["shares"]), meets=meets, **interference)
        elif fate["what"] == "depart":
            world.depart(*fate["departure"], meets=meets, **interference)
        else:
            forked = {name: fate[name] for name in ("processes", "lost") if name in fate}
            world.close(patience=fate["patience"], meets=meets, **forked, **interference)
        world.now_s += fate["wait_s"]
    world.deliver([record for record in records if identity(record) not in world.stored])
    world.settle()
    return world
