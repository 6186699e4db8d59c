"""The ledger of an hour agrees with the rollups, and has the same bytes whatever happens."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import replace
from typing import TYPE_CHECKING, Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.aws import AwsError
from aggregator.minutes import NoHourError, end_s, hour_of
from aggregator.reading.workers import OutOfTimeError
from aggregator.settle import function
from aggregator.settle.purchases import packed_parts
from aggregator.settle.run import SettleRun
from neuron_accounts.instance_hours import Ec2Instance
from neuron_accounts.ledger import PARTS_OF_HOUR, part_key
from neuron_accounts.then import summary_key
from neuron_emf.reading.ledger_bucket import rows as read_rows
from neuron_wire.catalogue import ROLLUP_NUMBERS
from neuron_wire.names import HOUR_MINUTES, MICRO
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE, record
from proof.memory_table import KillableProcess, KilledError
from tests.aggregator.cluster_world import WORLD_PRICES, WORLD_RULES, ClusterWorld

if TYPE_CHECKING:
    from pathlib import Path

SETTLED_HOUR = MINUTE // HOUR_MINUTES + 1
FIRST_OF_HOUR = SETTLED_HOUR * HOUR_MINUTES
LAST_OF_HOUR = FIRST_OF_HOUR + HOUR_MINUTES - 1
DUE_S = end_s(LAST_OF_HOUR + WORLD_RULES.late_minutes + 5)
SETTLED_BOOTS = ("019a00000000aaaaaaaa", "019a00000001aaaaaaaa")
SETTLED_INSTANCES = ("i-1", "i-2", "i-3")


class Folder(NamedTuple):
    """The ledger's bucket in a folder, which shows the objects of other processes."""

    path: Path

    def put(self, key, payload):
        """Put an object as S3 does: in whole or not at all."""
        file = self.path / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(payload)

    def objects(self):
        """Return every object by its key."""
        files = (path for path in self.path.rglob("*") if path.is_file())
        return {path.relative_to(self.path).as_posix(): path.read_bytes() for path in files}


class Bucket(dict):
    """The ledger's bucket in memory."""

    def put(self, key, payload):
        """Put an object as S3 does."""
        self[key] = payload


def settle(
    world, bucket, *, hour=None, ec2=None, ask_ec2=None, patience=10**6, processes=1, **fate
):
    """Run settle once; return None if it was killed."""
    process: Any = KillableProcess(world.table, world.printed, **fate)
    process_bucket: Any = KillableProcess(bucket, [], **fate)
    process_bucket.do = process.do
    looks = iter(range(patience))
    run = SettleRun(
        table=process,
        rules=replace(world.rules, prices=WORLD_PRICES),
        ask_ec2=ask_ec2 or (lambda: packed_parts(ec2 or {})),
        now_s=lambda: world.now_s,
        remaining_s=lambda: 900.0 if next(looks, None) is not None else 0.0,
        connect=lambda: (process, process_bucket),
        processes=processes,
    )
    with suppress(KilledError):
        return run.run(hour)
    return None


def world_of(records, departures=()):
    """Return a world in which *records* came in time or a little late, and minutes closed."""
    world = ClusterWorld(now_s=end_s(FIRST_OF_HOUR - 2), rules=WORLD_RULES)
    world.close()
    settle(world, Bucket())
    for instance_id, minute in departures:
        world.depart(instance_id, minute)
    for at in (FIRST_OF_HOUR, LAST_OF_HOUR + 2):
        world.now_s = end_s(at)
        if due := [record for record in records if record.minute_ms < world.now_s * 1000 - 60_000]:
            world.deliver(due)
        for _ in range(3):
            world.close()
    world.now_s = DUE_S
    world.close()
    return world


def ledger_of(bucket):
    """Return the rows of an hour."""
    return list(
        read_rows(
            (SETTLED_HOUR, bucket[part_key(SETTLED_HOUR, part)]) for part in range(PARTS_OF_HOUR)
        )
    )


def keys_of(hour):
    """Return the keys of the objects of an hour: its parts, then their summary."""
    return [*(part_key(hour, part) for part in range(PARTS_OF_HOUR)), summary_key(hour)]


def minute_of(instance_id, minute, **changes):
    """Return a minute of two cores: a Slurm job keeps one busy, a pod holds the other idle."""
    owners = (Owner("0", "slurm:7 ann"), Owner("1", "ml/a"))
    moment = {"minute": minute, "seq": minute - MINUTE + 1}
    return record(instance_id=instance_id, owners=owners, **moment, **changes)


QUIET_OWNER: dict[str, Any] = {"executions": 0, "quiet_minutes": 60}
OWNER_LISTS = [
    (),
    (Owner("0-1", "ml/a-0", **QUIET_OWNER),),
    (Owner("0-1", "ml/a-1", executions=5),),
    (Owner("0-1", "ml/a-1", **QUIET_OWNER),),
    (Owner("0-1", "ml/a-0", executions=0, quiet_minutes=14),),
    (Owner("", "ml/c", reserved="0-1", quiet_minutes=60),),
]


@st.composite
def fleets(draw):
    """
    Draw minutes of a few instances in two clusters, with restarts, copies and second emitters.
    """
    offsets = st.integers(-70, HOUR_MINUTES - 1)
    records = []
    for name in SETTLED_INSTANCES:
        for offset in draw(st.sets(offsets, max_size=8)):
            state = draw(st.text("bau?", min_size=1, max_size=3))
            minute_record = record(
                cluster=draw(st.sampled_from(["training", "research"])),
                instance_id=name,
                minute=FIRST_OF_HOUR + offset,
                seq=offset + 100,
                boot=draw(st.sampled_from(SETTLED_BOOTS)),
                is_clean_shutdown=draw(st.integers(0, 5)) == 0,
                covered_seconds=draw(st.sampled_from([30.0, 60.0])),
                core_state=state,
                utilization_percent=tuple(None if x == "?" else 7.0 for x in state),
                idle_minutes=tuple(draw(st.sampled_from([0, 15, 99])) for _ in state),
                owners=draw(st.sampled_from([(), (Owner("0", "ml/a"), Owner("0", "ml/b"))])),
                instance_type=draw(st.sampled_from(["inf2.xlarge", "trn1.2xlarge", None])),
            )
            records.append(minute_record)
            if draw(st.booleans()):
                records.append(replace(minute_record, boot=SETTLED_BOOTS[1], seq=300 + offset))
            if draw(st.integers(0, 4)) == 0:
                records.append(
                    replace(minute_record, cluster=draw(st.sampled_from(["other", "training"])))
                )
    return records


@st.composite
def jobs(draw):
    """
    Draw two minutes of jobs that hold, use or have reserved whole instances of one cluster; lines
    of the second minute may be missing.
    """
    records = []
    for name in SETTLED_INSTANCES:
        for offset in range(draw(st.sampled_from([1, 2, 2, 2]))):
            owners = draw(st.sampled_from(OWNER_LISTS))
            letter = "u" if not owners or owners[0].reserved else draw(st.sampled_from("aaab?"))
            minute_record = record(
                instance_id=name,
                minute=FIRST_OF_HOUR + offset,
                seq=offset + 1,
                core_state=2 * letter,
                utilization_percent=(None if letter == "?" else 7.0,) * 2,
                idle_minutes=(60 * (letter != "b"),) * 2,
                owners=owners,
                reservations=draw(st.sampled_from(["none", "none", "unknown"])),
                executions=sum(owner.executions or 0 for owner in owners),
                execution_errors=0,
            )
            records.append(minute_record)
            if draw(st.integers(0, 4)) == 0:
                covered_s = draw(st.sampled_from([6.0, 60.0]))
                records.append(replace(minute_record, cluster="other", covered_seconds=covered_s))
    return records


def published(world, metric):
    """Return the hour's sum of a rollup metric: all lines of a tally, the last line of a gauge."""
    reported = [
        lines
        for (minute, _), lines in world.rollups().items()
        if FIRST_OF_HOUR <= minute <= LAST_OF_HOUR
    ]
    is_tally = ROLLUP_NUMBERS[metric].family == "tally"
    counted = [line for lines in reported for line in (lines if is_tally else lines[-1:])]
    return sum(line.get(metric, 0) for line in counted)


@given(fleets() | jobs())
@settings(max_examples=60)
def test_the_ledger_agrees_with_the_rollups(fleet):
    """
    Idle and busy core-minutes and avoidable cost of the ledger are those of the rollups, over all
    clusters, although settle reads the instances of an owner in several parts.
    """
    world = world_of(fleet)
    bucket = Bucket()
    settle(world, bucket)
    rows = ledger_of(bucket)
    for name, metric in (("idle", "IdleCoreMinutes"), ("busy", "BusyCores")):
        micros = sum(getattr(row, name) or 0 for row in rows)
        assert micros == MICRO * published(world, metric)
    idle_usd = sum(row.idle_cost or 0 for row in rows) / 10**9
    assert idle_usd == pytest.approx(published(world, "IdleCost"), abs=1e-4)
    avoidable_usd = sum(row.avoidable_cost or 0 for row in rows) / 10**9
    reported = published(world, "AvoidableCostPerHour") / HOUR_MINUTES
    last_lines = [lines[-1] for lines in world.rollups().values()]
    if all("AvoidableCostPerHour" in line for line in last_lines if "IdleCostPerHour" in line):
        assert avoidable_usd == pytest.approx(reported, abs=1e-4)
    # a rollup has no avoidable cost if an owner may work unseen; the ledger has the cost of the
    # other owners
    else:
        assert avoidable_usd >= reported - 1e-4


@given(fleets(), st.booleans(), st.data())
@settings(max_examples=25)
def test_killed_anywhere_and_repeated_the_bytes_are_the_same(fleet, after, data):
    """
    After a kill at any call of table or bucket and a repetition, the bytes are the same. An hour is
    settled after its eight objects are stored.
    """
    whole = Bucket()
    assert settle(world_of(fleet), whole).hours_settled == 2
    assert {*keys_of(SETTLED_HOUR - 1), *keys_of(SETTLED_HOUR)} == whole.keys()
    again = world_of(fleet)
    bucket = Bucket()
    for killed_at in data.draw(st.lists(st.integers(1, 6_000), min_size=1, max_size=3)):
        settle(again, bucket, killed_at=killed_at, after=after)
        assert bucket.items() <= whole.items()
    settle(again, bucket)
    assert whole == bucket


def test_an_instance_that_is_missed_is_unknown_until_it_is_forgotten():
    """A missing instance is unknown until it is forgotten, and has no row after EC2 stopped it."""
    fleet = [
        # 9 minutes between, then 49 until it is forgotten
        minute_of("i-1", FIRST_OF_HOUR),
        minute_of("i-1", FIRST_OF_HOUR + 10),
        # 4 minutes between, none after the clean shutdown
        minute_of("i-2", FIRST_OF_HOUR),
        minute_of("i-2", FIRST_OF_HOUR + 5, is_clean_shutdown=True),
        minute_of("i-3", FIRST_OF_HOUR - 30),  # 31 of 60 minutes until it is forgotten
        minute_of("i-4", FIRST_OF_HOUR - 61),  # already forgotten
        # 8 minutes between, then 50 until it is forgotten
        minute_of("i-5", FIRST_OF_HOUR),
        minute_of("i-5", FIRST_OF_HOUR + 9, cluster="other"),
        minute_of("i-6", FIRST_OF_HOUR),  # stopped in minute 19
    ]
    bucket = Bucket()
    settle(world_of(fleet, [("i-6", FIRST_OF_HOUR + 19)]), bucket)
    unknown = {
        (row.cluster, row.instance_id): row.allocated // (2 * MICRO)
        for row in ledger_of(bucket)
        if row.owner == "[unknown]"
    }
    assert {
        ("training", "i-1"): 58,
        ("training", "i-2"): 4,
        ("training", "i-3"): 31,
        ("training", "i-5"): 8,
        ("other", "i-5"): 50,
        ("training", "i-6"): 19,
    } == unknown


def test_several_processes_put_the_same_bytes(tmp_path):
    """Several processes put the same bytes as one, each process its own parts."""
    fleet = [minute_of(f"i-{number}", FIRST_OF_HOUR + 3) for number in range(40)]
    world = world_of(fleet)
    alone = Folder(tmp_path / "1")
    together = Folder(tmp_path / "3")
    settle(world, alone, hour=SETTLED_HOUR)
    outcome = settle(world, together, hour=SETTLED_HOUR, processes=3)
    assert alone.objects() == together.objects()
    assert 1 == outcome.hours_settled  # two owners and unknown cores
    assert 120 == outcome.rows


# --- when ---


def test_an_hour_waits_until_it_can_no_longer_change():
    """
    Settle waits for an hour until LateMinutes and the time of a marker are over, to the minute.
    """
    world = world_of([minute_of("i-1", FIRST_OF_HOUR)])
    bucket = Bucket()
    world.now_s = DUE_S - 61
    assert 1 == settle(world, bucket).hours_settled  # the previous hour
    world.now_s = DUE_S
    outcome = settle(world, bucket)
    assert 1 == outcome.hours_settled
    assert 0 == outcome.hours_waiting
    assert 0 == settle(world, bucket).hours_settled


@pytest.mark.parametrize(
    ("markers", "progress"),
    [
        ([LAST_OF_HOUR], {}),
        ([], {"open_minutes": (FIRST_OF_HOUR,)}),
        ([], {"next_minute": LAST_OF_HOUR}),
        ([], None),
    ],
)
def test_an_hour_waits_for_close(markers, progress):
    """
    An hour with a marker, an open minute or minutes not yet closed waits, and is counted as
    waiting.
    """
    world = world_of([minute_of("i-1", FIRST_OF_HOUR)])
    table = world.table
    table.settled = SETTLED_HOUR
    table.put_markers(markers, "late", 0)
    table.progress = None if progress is None else replace(table.progress, **progress)
    outcome = settle(world, Bucket())
    assert 0 == outcome.hours_settled
    assert 1 == outcome.hours_waiting
    assert SETTLED_HOUR == world.table.settled


def test_missed_hours_are_made_up_oldest_first_and_lost_ones_are_counted():
    """
    Missed hours are settled oldest first while the table has their minutes; lost hours are counted.
    """
    world = world_of([minute_of("i-1", FIRST_OF_HOUR)])
    bucket = Bucket()
    world.now_s = DUE_S + 5 * 3600
    world.close()
    assert 7 == settle(world, bucket).hours_settled
    assert 1 == sum(row.owner == "ml/a" for row in ledger_of(bucket))
    world.now_s += 30 * 3600
    while world.close().minutes_waiting:
        pass
    outcome = settle(world, bucket)
    assert 6 == outcome.hours_dropped
    assert 24 == outcome.hours_settled
    assert 0 == outcome.hours_waiting


def test_the_first_hour_is_the_one_in_progress_at_the_first_run():
    """The first settled hour is the hour of the first run; earlier hours have no empty ledger."""
    world = ClusterWorld(now_s=end_s(FIRST_OF_HOUR + 3))
    assert 0 == settle(world, Bucket()).hours_settled
    assert SETTLED_HOUR == world.table.settled


def test_a_run_out_of_time_leaves_the_rest_to_the_next():
    """
    A run out of time leaves the hour to the next run, and fails if the hour was named in the event.
    """
    world = world_of([minute_of("i-1", FIRST_OF_HOUR)])
    outcome = settle(world, Bucket(), patience=40)
    assert 0 == outcome.hours_settled
    assert 2 == outcome.hours_waiting
    assert SETTLED_HOUR - 1 == world.table.settled
    with pytest.raises(OutOfTimeError):
        settle(world, Bucket(), hour=SETTLED_HOUR, patience=40)


def test_an_hour_that_is_named_is_settled_again():
    """
    A named hour is settled again, due or not; text of another form is refused with the right form.
    """
    world = world_of([minute_of("i-1", FIRST_OF_HOUR)])
    bucket = Bucket()
    assert hour_of({"Hour": "2025-11-24T17:00Z"}) == SETTLED_HOUR
    assert 1 == settle(world, bucket, hour=SETTLED_HOUR).hours_settled
    assert None is hour_of({})
    with pytest.raises(NoHourError, match="such as 2026-11-22T08:00Z"):
        hour_of({"Hour": "2025-11-24T17:30Z"})


# --- what counts ---


EC2 = {"i-1": Ec2Instance("capacity-block", "cr-1")}


def bought(bucket):
    """Return the purchase options of the hour's instances in the ledger."""
    return {(row.lifecycle, row.capacity_reservation_id) for row in ledger_of(bucket)}


def test_the_answer_of_ec2_is_kept_with_the_hour():
    """EC2's answer is kept with the hour, because EC2 forgets an instance an hour after its end."""
    world = world_of([minute_of("i-1", FIRST_OF_HOUR)])
    bucket = Bucket()
    settle(world, bucket, hour=SETTLED_HOUR, ec2=EC2)
    first = dict(bucket)
    settle(world, bucket, hour=SETTLED_HOUR)
    assert first == bucket
    assert {reported[:2] for reported in EC2.values()} == bought(bucket)


@pytest.mark.parametrize(("minutes", "mark"), [(0, None), (2, None), (3, 3)])
def test_an_instance_that_reports_to_two_clusters_is_marked(minutes, mark):
    """An instance that reports to two clusters in three minutes of the hour has a mark in each."""
    fleet = [minute_of("i-1", FIRST_OF_HOUR + at) for at in range(9)]
    fleet += [minute_of("i-1", FIRST_OF_HOUR + at, cluster="mine") for at in range(9 - minutes, 12)]
    bucket = Bucket()
    settle(world_of(fleet), bucket)
    marks = {(row.cluster, row.overlap_minutes) for row in ledger_of(bucket)}
    assert {("training", mark), ("mine", mark)} == marks


def test_an_hour_waits_for_an_answer_of_ec2(monkeypatch):
    """
    If EC2 throttles the request, settle retries it; if a policy denies it, purchase options are
    unknown.
    """
    world = world_of([minute_of("i-1", FIRST_OF_HOUR)])
    bucket = Bucket()

    def ask(code=""):
        def asked():
            if code:
                msg = f"rejected a call with {code}"
                raise AwsError(msg, code)
            return EC2

        monkeypatch.setattr(function, "asked_of_ec2", asked)
        return settle(world, bucket, ask_ec2=function._ask_ec2)

    for code in ("RequestLimitExceeded", "UnavailableInZone", "ExpiredToken"):
        outcome = ask(code)
        assert 0 == outcome.hours_settled, code
        assert 2 == outcome.hours_waiting, code
        assert {} == bucket, code
    assert 2 == ask("UnauthorizedOperation").hours_settled
    assert {(None, None)} == bought(bucket)
    world.table.settled = SETTLED_HOUR
    assert 1 == ask().hours_settled
    assert {reported[:2] for reported in EC2.values()} == bought(bucket)


def test_a_cluster_without_rollups_is_not_in_the_ledger():
    """A cluster without rollups is not in the ledger, because lines can have any cluster name."""
    world = world_of(
        [minute_of("i-1", FIRST_OF_HOUR), minute_of("i-2", FIRST_OF_HOUR, cluster="flood")]
    )
    for clusters in world.table.publications.values():
        clusters.pop("flood", None)
    bucket = Bucket()
    assert settle(world, bucket).records_refused > 0
    assert {"training"} == {row.cluster for row in ledger_of(bucket)}
