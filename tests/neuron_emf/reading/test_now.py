"""The current state equals close's rollups, and message, page and top show its figures."""

from __future__ import annotations

import io
import json
from dataclasses import replace
from fractions import Fraction

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from rich.console import Console

from aggregator.explain.event import read_transition
from aggregator.explain.notification import notify
from aggregator.rollups.rollup import RollupInProgress
from aggregator.rollups.rollup_line import due, rollup_line
from neuron_accounts.core_time import CostRules
from neuron_accounts.now import cluster_now
from neuron_accounts.prices import LIST_USD_PER_HOUR, Prices
from neuron_emf.reading.now_reader import NO_ROLLUP, answer_of
from neuron_emf.reading.rollup_lines import NewestMinutes, Now, RollupLines, together
from neuron_emf.top.listing import parts_of
from neuron_wire import encode
from neuron_wire.merging import merge_clusters
from neuron_wire.names import MICRO, MINUTE_MS, REASON_WORDS, UNKNOWN_REASONS, UNKNOWN_STATE
from neuron_wire.owners import Owner
from neuron_words.now_words import avoidable_parts_words, price_overrides_line, unpriced_words
from neuron_words.quantity_words import per_hour
from proof import reference
from proof.factories import records as factory
from proof.memory_table import MemoryTable
from tests.aggregator.explain.alarm_events import ENVIRONMENT, of_an_alarm
from tests.aggregator.rollups.test_reference import clusters
from tests.neuron_emf.page.page_account import line as rollup_text

IDLE_AFTER = 15
NUMBER_BY_FIELD = {
    "instances": "Instances",
    "cores": "NeuronCores",
    "unknown": "UnknownCores",
    "idle": "IdleCores",
    "fully_idle_instances": "FullyIdleInstances",
    "unpriced": "UnpricedCores",
    "cost": "IdleCostPerHour",
    "avoidable": "AvoidableCostPerHour",
    "avoidable_allocated": "AvoidableAllocatedCostPerHour",
    "shared": "SharedCostPerHour",
    "committed": "CommittedCostPerHour",
    "unallocated": "UnallocatedIdleCores",
    "unknown_allocation": "UnknownAllocationIdleCores",
    "idle_unpriced": "UnpricedIdleCores",
    "in_other_clusters": "InstancesInOtherClusters",
}
USD = {
    f"{region}/{name}": Fraction(str(usd))
    for region, prices in LIST_USD_PER_HOUR.items()
    for name, usd in prices.items()
}
SECOND = "serving"
NOW_ACCOUNT = {
    "read_ms": 0,
    "region": "us-east-1",
    "stack_name": "neuron-emf",
    "idle_after_minutes": 15,
    "differences": [],
    "close": None,
    "traffic": {"calls": 0, "bytes": 0},
    "alarms": [],
}


def line_of(record):
    """Return the minute line of a record, as its emitter writes it."""
    return encode({**record.members(), "Timestamp": record.minute_ms})


def closed(records):
    """Return the lines that close prints about *records*, one for each cluster and minute."""
    sums = {}
    by_minute = {}
    for record in records:
        parts = by_minute.setdefault(record.minute_ms // MINUTE_MS, {})
        parts.setdefault((record.cluster, record.instance_id), []).append(record)
    for minute, parts in by_minute.items():
        for (cluster, _), instance in merge_clusters(parts).items():
            key = minute, cluster
            sums.setdefault(
                key, RollupInProgress(cluster, CostRules(idle_after_minutes=IDLE_AFTER))
            )
            sums[key].fold_instance(instance)
    rollups = {key: sums_of.finish([]) for key, sums_of in sorted(sums.items())}
    return [rollup_line(rollup, key[0], due(rollup, None)) for key, rollup in rollups.items()]


def now_of(lines):
    """Return the current state from these rollup lines."""
    read = RollupLines()
    read.fold_lines(lines)
    return read.now()


def folded(lines):
    """Return the current state from these minute lines."""
    read = NewestMinutes()
    assert lines == list(read.fold_lines(lines))
    return read.now(Prices(), IDLE_AFTER)


def check_now(now, records):
    """Check that each number equals the reference, which shares no code with the product."""
    for (minute, cluster), expected in reference.rollups(records, usd_per_hour=USD).items():
        (shown,) = now.of_cluster(cluster).clusters
        assert minute == shown.minute
        for name, member in NUMBER_BY_FIELD.items():
            value = getattr(shown, name)
            wanted = expected.get(member)
            unit = MICRO if member.endswith("PerHour") else 1
            assert (value is None) == (wanted is None), member
            assert value is None or abs(value / unit - wanted) <= 2e-6, member
        assert (shown.unknown or 0) == sum(shown.unknown_by_reason.values())
        assert (shown.idle or 0) * MICRO == sum(row.idle for row in shown.owners)
        assert (shown.cost or 0) == sum(row.cost or 0 for row in shown.owners)


def test_an_owner_whose_sibling_has_no_line_in_the_minute_is_not_fully_idle():
    """Without a stack, an owner is not fully idle if a sibling's instance has no newest minute."""

    def rank(number, minute, state):
        owner = Owner("0-1", f"ml/train-{number}", None, "", 0, 60)
        return line_of(
            factory.record(
                instance_id=f"i-{number}",
                minute=factory.MINUTE + minute,
                seq=minute + 1,
                core_state=state,
                utilization_percent=(50.0 * (state == "bb"),) * 2,
                idle_minutes=(60, 60),
                executions=0,
                execution_errors=0,
                owners=(owner,),
            )
        )

    waits = [rank(0, minute, "aa") for minute in (0, 1)]
    other = factory.record(
        instance_id="i-9",
        minute=factory.MINUTE + 1,
        core_state="uu",
        utilization_percent=(0.0, 0.0),
        idle_minutes=(60, 60),
        reservations="none",
        executions=0,
        execution_errors=0,
    )
    now = folded([*waits, rank(1, 0, "bb"), line_of(other)])
    (cluster,) = now.clusters
    assert factory.MINUTE + 1 == cluster.minute
    assert [None] * len(cluster.owners) == [row.fully_idle_minutes for row in cluster.owners]


def text_of(answer):
    """Return what `top` prints about this answer, on one line."""
    file = io.StringIO()
    console = Console(file=file, width=80, no_color=True, highlight=False)
    for part in parts_of({**answer, **NOW_ACCOUNT}):
        console.print(part)
    return " ".join(file.getvalue().split())


def message_of(line):
    """Return the message about a rollup."""
    table = MemoryTable()
    cluster = json.loads(line)["ClusterName"]
    minute = cluster_now(json.loads(line)).minute
    table.write_last_rollup("minute", cluster, minute, line)
    fired_s = 60 * minute + 300.0
    transition = replace(read_transition(of_an_alarm(cluster=cluster)), at_s=fired_s)
    sent = notify(transition, table, ENVIRONMENT, lambda *_: None, fired_s, printer=lambda _: None)
    return " ".join(sent.message.text.split())


def faces_agree(lines):
    """Check that message, page and top have the same words and the rollup's numbers."""
    now = now_of(lines)
    for line in lines:
        rollup = json.loads(line)
        place = cluster_now(rollup)
        answer = answer_of(now, place.cluster, (place.minute + 1) * MINUTE_MS)
        shown = text_of(answer)
        message = message_of(line)
        reasons = rollup.get("UnknownCoresByReason", {})
        assert reasons == answer["idle"]["unknown_by_reason"]
        assert not reasons or REASON_WORDS[max(reasons, key=reasons.get)] in shown
        if place.idle is None:
            assert answer["idle"]["words"] in shown
            continue
        known = rollup["NeuronCores"] - rollup["UnknownCores"]
        words = answer["idle"]["words"]
        idle = f"{rollup['IdleCores']:,} of {known:,} known core{'' if known == 1 else 's'}"
        assert words.startswith(idle)
        assert words in shown
        assert words.replace(idle, f"{idle} idle") in message
        both = []
        if place.cost is not None and place.idle:
            assert place.cost == round(rollup["IdleCostPerHour"] * MICRO)
            assert rollup["IdleCostPerHour"] == answer["cost"]["usd_per_hour"]
            both.append(per_hour(place.cost))
            both += [per_hour(place.avoidable)] if place.avoidable else []
        unpriced = sum(row["UnpricedCores"] for row in rollup.get("TopIdleOwners", ()))
        assert bool(unpriced) == answer["cost"]["is_incomplete"] == ("no price (" in shown)
        assert bool(unpriced) == ("no price (" in message)
        both += [unpriced_words(place)] if unpriced else []
        rows = [row["words"]["usd"].split()[0] for row in answer["owners"][:5]]
        avoidable = [avoidable_parts_words(place)] if place.avoidable else []
        for words in (*both, *rows, *avoidable):
            assert words in shown, words
        for words in both:
            assert words in message, words
        to_type = price_overrides_line(place.unpriced_types) if unpriced else ""
        assert to_type in "".join(shown.split())  # a terminal breaks text that is too long for it
        assert to_type in message
        has_no_type = any("unknown type" in name for name in place.unpriced_types)
        assert has_no_type == ("--instance-type" in "".join(shown.split()))
        priced = [f"{row['words']['usd'].split()[0]} USD/h" for row in answer["owners"]]
        first = message.partition(" Since ")[0]
        assert not place.idle or any(words in first for words in (*priced, "no price"))


@st.composite
def fleets(draw):
    """Draw records of three clusters in one minute, whose lines can be written."""
    reason = st.sampled_from([None, *UNKNOWN_REASONS])
    records = [
        replace(record, unknown_reason=draw(reason) if UNKNOWN_STATE in record.core_state else None)
        for own in draw(clusters())
        for record in own
    ]
    others = [record for own in draw(clusters(most_parts=1)) for record in own]
    return [*records, *(replace(other, cluster=SECOND, boot=f"{other.boot}2") for other in others)]


@settings(max_examples=200)
@given(fleets())
def test_now_equals_close_and_each_face_shows_it(records):
    """The state of random fleets, from rollup lines and minute lines, equals close's rollups."""
    lines = closed(records)
    now = now_of(lines)
    check_now(now, records)
    faces_agree(lines)
    same_if_reported(folded([line_of(record) for record in records]), now)


def same_if_reported(minutes, rollups):
    """Leave out what minute lines lack: silent instances and the covered share of the cluster."""
    for cluster, other in zip(minutes.clusters, rollups.clusters, strict=True):
        assert cluster == replace(other, silent=None, covered=None)


SUMMED_MEMBERS = [*NUMBER_BY_FIELD.values(), "SilentInstances", "TopIdleOwners"]
NOW_OWNERS = [{"Owner": "slurm:7", "Cores": 30, "UsdPerHour": 15.5}]
HOURLY_AMOUNTS = {name: 1.5 for name in NUMBER_BY_FIELD.values() if name.endswith("PerHour")}
WHOLE_LINE = json.loads(
    rollup_text(TopIdleOwners=NOW_OWNERS, FullyIdleInstances=1, **HOURLY_AMOUNTS)
)


@given(
    st.sampled_from(SUMMED_MEMBERS), st.none() | st.text() | st.booleans() | st.floats(max_value=-1)
)
def test_a_value_unknown_in_one_cluster_is_unknown_in_the_sum(member, value):
    """A sum is unknown if the value of one cluster is unknown."""
    other = cluster_now({**WHOLE_LINE, member: value})
    both = together([cluster_now(WHOLE_LINE), other])
    alone = cluster_now(WHOLE_LINE)
    for name, source in {**NUMBER_BY_FIELD, "silent": "SilentInstances"}.items():
        expected = None if source == member else 2 * getattr(alone, name)
        assert expected == getattr(both, name), name
    assert both.owners_known is (member != "TopIdleOwners")
    nothing = answer_of(Now(()), "", 0)
    assert {NO_ROLLUP} == {nothing[name]["words"] for name in ("idle", "cost", "avoidable")}


@pytest.mark.parametrize(("minutes", "is_old"), [(10, False), (11, True)])
def test_old_data_say_so(minutes, is_old):
    """Data older than the limit is marked old, counted from the end of the newest minute."""
    now = Now((cluster_now(WHOLE_LINE),))
    end_ms = (now.total.minute + 1) * MINUTE_MS
    answer = answer_of(now, "", end_ms + minutes * MINUTE_MS)
    assert minutes == answer["age_minutes"]
    assert is_old == answer["is_old"]
