"""Minute records, fleets of them as Hypothesis draws, and what is counted of them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hypothesis import strategies as st

from aggregator.rollups.line import rollup_line
from aggregator.rollups.publication import due
from aggregator.rollups.rollup import RollupInProgress
from neuron_emf.reading.periods import ALWAYS
from neuron_emf.report.counting import Counting
from neuron_wire import MinuteRecord, encode
from neuron_wire.holders import Holder
from neuron_wire.merging import merge
from neuron_wire.owners import Owner
from neuron_wire.prices import Prices

if TYPE_CHECKING:
    from collections.abc import Iterable

START_MS = 1_795_000_020_000  # a whole minute of November 2026
MINUTE_MS = 60_000
HOLDERS = (
    Holder("0-1", "ml/llama-0", 41, "serve"),
    Holder("1-2", None, 42, "eval"),
    Holder("3", None, 43, None),
)
OWNERS = (
    Owner("0-1", "ml/llama-0", "ml"),
    Owner("1-2", "slurm:4711 ada"),
    Owner("1", "[unnamed]"),
)


def minute(
    number: int = 0,
    state: str = "aaaa",
    idle: tuple[int, ...] | None = None,
    *,
    instance: str = "i-0a",
    **members: Any,
) -> MinuteRecord:
    """
    Minute *number* of an instance whose cores have long been idle unless *idle* says otherwise.
    """
    given = {
        "cluster": "research",
        "boot": "b1",
        "seq": number + 1,
        "covered_seconds": 60.0,
        "instance_type": "trn1.2xlarge",
        **members,
    }
    return MinuteRecord(
        instance_id=instance,
        minute_ms=START_MS + number * MINUTE_MS,
        reports=4,
        core_state=state,
        utilization_percent=tuple(
            {"b": 90.0, "a": 0.5, "u": 0.0, "?": None}[letter] for letter in state
        ),
        idle_minutes=tuple(0 if letter == "b" else 60 for letter in state)
        if idle is None
        else idle,
        **given,
    )


def line_of(record: MinuteRecord) -> str:
    """The line of *record* as an emitter with `--metrics none` writes it."""
    return encode({"Timestamp": record.minute_ms, **record.members()})


def rollups_of(
    records: Iterable[MinuteRecord], idle_after: int = 15, prices: Prices | None = None
) -> list[str]:
    """The first rollup of each minute of each cluster, as close would print it of *records*."""
    found: dict[tuple[int, str], dict[str, dict[tuple[str, int], MinuteRecord]]] = {}
    for one in records:
        cluster = found.setdefault((one.minute_ms, one.cluster), {})
        cluster.setdefault(one.instance_id, {})[one.boot, one.seq] = one
    lines = []
    for (minute_ms, cluster), instances in sorted(found.items()):
        in_progress = RollupInProgress(cluster, idle_after, prices)
        for theirs in instances.values():
            in_progress.add(merge(theirs.values()))
        rollup = in_progress.finish(())
        first = due(rollup, None)
        assert first is not None
        lines.append(rollup_line(rollup, minute_ms // MINUTE_MS, first))
    return lines


@st.composite
def fleets(draw: Any) -> list[MinuteRecord]:
    """
    A few minutes of a few instances, with restarts, second emitters, goodbyes and gaps.

    Every record has an identity of its own.
    """
    types = st.sampled_from(["inf2.xlarge", "trn1.2xlarge", "trn2.3xlarge", None])
    regions = st.sampled_from(["us-east-1", "ap-northeast-1", None])
    keys = st.tuples(
        st.sampled_from(["research", "serving"]),
        st.sampled_from(["i-0a", "i-0b", "i-0c"]),
        st.integers(0, 5),
        st.sampled_from(["b1", "b2"]),
    )
    records = []
    for cluster, instance, number, boot in draw(st.lists(keys, unique=True, max_size=25)):
        cores = draw(st.integers(0, 5))
        state = draw(st.text(st.sampled_from("bau?"), min_size=cores, max_size=cores))
        idle = tuple(
            0 if letter == "b" else draw(st.sampled_from([0, 3, 14, 15, 16, 900]))
            for letter in state
        )
        records.append(
            minute(
                number,
                state,
                idle,
                instance=instance,
                cluster=cluster,
                boot=boot,
                # Two clusters may name one instance: its records have numbers of their own.
                seq=2 * number + 1 + (cluster == "serving"),
                covered_seconds=draw(st.sampled_from([10.0, 30.0, 36.0, 56.0, 60.0])),
                instance_type=draw(types),
                region=draw(regions),
                holders=tuple(draw(st.lists(st.sampled_from(HOLDERS), max_size=3, unique=True))),
                holders_more=draw(st.integers(0, 1)),
                owners=tuple(draw(st.lists(st.sampled_from(OWNERS), max_size=3, unique=True))),
                owners_more=draw(st.sampled_from(["", "0,3"])),
                lifecycle=draw(st.sampled_from([None, "spot", "capacity-block"])),
                paid=draw(st.sampled_from([None, None, "sunk", "avoidable"])),
                bye=draw(st.booleans()),
            )
        )
    return records


def counted(*records, idle_after=15, prices=None, period=ALWAYS, cluster="", closings=(), **known):
    """A counting of *records*, closed after those whose place is in *closings* and at the end."""
    counting = Counting(period, idle_after, prices or Prices(), cluster, **known)
    for place, record in enumerate(records):
        counting.add(record)
        if place in closings:
            counting.close()
    counting.close()
    counting.finish()
    return counting


def the_one(counting):
    (instance,) = counting.instances.values()
    return instance
