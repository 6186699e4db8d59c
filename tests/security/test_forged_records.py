"""
The effect of a line in another instance's name on the numbers, and its limits.

No line is signed: anyone who can write lines can write any line. These tests show the effects that
docs/explanation/security.md describes.
"""

from __future__ import annotations

import json

import pytest

from neuron_wire.names import MAX_CORES
from proof.factories.invocations import delivery
from proof.factories.records import MINUTE, lines, record
from tests.aggregator.memory_stack import MINUTE_END_S
from tests.security.conftest import real

BUSY_MEMBERS = {"core_state": "bb", "utilization_percent": (99.0, 99.0), "idle_minutes": (0, 0)}
EARLIER = "0"  # as a Boot
LATER = "zzzz"


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("ClusterName", "line\nbreak"), ("ClusterName", "escape\x1b[2J"),
        ("ClusterName", "right\u202eto left"), ("ClusterName", "caf\u00e9"),
        ("ClusterName", " "), ("ClusterName", ["a", "list"]), ("InstanceId", "tab\t"),
        ("InstanceType", "x" * 129), ("Seq", 0), ("Executions", 10**400), ("Executions", -1),
        ("CoveredSeconds", float("1e308")), ("CoreState", "b" * (MAX_CORES + 1)),
        ("CoreState", "=cmd"), ("Schema", 2),
    ],
)  # fmt: skip
def test_a_name_or_number_that_none_can_have_is_refused(attacked, member, value):
    """
    Ingest drops and counts an impossible name or number, which reaches neither table nor rollup.
    """
    (line,) = lines(real(0))
    forged = json.dumps({**json.loads(line.message), member: value})
    counts = attacked.deliver(delivery(type(line)("event", forged)), at_s=MINUTE_END_S + 5)
    assert 1 == counts["RecordsRejected"]
    assert 0 == counts["RecordsStored"]
    assert not attacked.table.records


@pytest.mark.parametrize(
    ("minutes", "fate"),
    [
        (-(10**6), "RecordsTooLate"),
        (-121, "RecordsTooLate"),
        (-120, "RecordsStored"),
        (120, "RecordsStored"),
        (121, "RecordsRejected"),
        (10**6, "RecordsRejected"),
    ],
)
def test_a_minute_far_from_now_is_dropped(attacked, minutes, fate):
    """Lines of two hours to either side of now are kept; all others are dropped."""
    attacked.now_s = MINUTE * 60.0
    counts = attacked.write(record(minute=MINUTE + minutes))
    assert [fate] == [name for name, count in counts.items() if count]


def test_a_line_for_the_future_waits_for_its_minute(attacked):
    """A line for the future publishes nothing before its minute, and is an ordinary line then."""
    attacked.write(real(90), at_s=MINUTE_END_S - 60)
    for offset in range(3):
        attacked.live(offset, real(offset))
        assert {MINUTE + offset} == {
            rollup["_aws"]["Timestamp"] // 60_000 for rollup in attacked.rollups
        }


def test_a_line_with_the_same_identity_takes_the_place_of_another(attacked):
    """Boot and Seq are not secret: a line with both replaces the record."""
    attacked.write(real(0), at_s=MINUTE_END_S + 5)
    attacked.live(0, real(0, executions=0, execution_errors=0))
    (line,) = attacked.rollups
    assert 0 == line["Executions"]
    assert 1 == line["Instances"]


@pytest.mark.parametrize("boot", [EARLIER, LATER])
def test_a_second_emitter_is_named(attacked, boot):
    """
    A forged record of a whole minute may replace the real one, and the line then names two
    emitters.
    """
    attacked.live(0, real(0), real(0, boot=boot, **BUSY_MEMBERS))
    (line,) = attacked.rollups
    expected = {
        "Instances": 1,
        "DuplicateEmitters": 1,
        "DuplicateEmitterInstances": ["i-training"],
        "NeuronCores": 2,
    }
    assert expected.items() <= line.items()


def test_a_record_of_few_seconds_passes_for_a_restart(attacked):
    """
    A record of up to 6 seconds is merged with a whole minute as after a restart, without a notice.
    """
    attacked.live(0, real(0), real(0, boot=LATER, covered_seconds=6.0, **BUSY_MEMBERS))
    (line,) = attacked.rollups
    assert 2 == line["BusyCores"]
    assert 0 == line["DuplicateEmitters"]
    assert 1 == line["Instances"]


def test_an_instance_is_counted_once_whatever_is_written_in_its_name(attacked):
    """50 forged records of one instance are one instance, with its cores."""
    forged = [real(0, boot=f"boot{number}", seq=number + 1) for number in range(50)]
    attacked.live(0, real(0), *forged)
    (line,) = attacked.rollups
    assert 1 == line["Instances"]
    assert 2 == line["NeuronCores"]
    assert 1 == line["DuplicateEmitters"]


def test_a_forged_clean_shutdown_keeps_silence_quiet(attacked):
    """A forged `CleanShutdown` counts: the instance is gone, not silent."""
    attacked.live(
        0,
        real(0),
        real(0, boot=LATER, covered_seconds=0.0, is_clean_shutdown=True),
        real(0, "serving"),
    )
    for offset in range(1, 9):
        attacked.live(offset, real(offset, "serving"))
    assert {"serving"} == attacked.clusters


def test_absurd_numbers_cost_only_their_cluster_its_metrics(attacked):
    """
    50 lines with the largest possible numbers cost their cluster its metrics, and every rollup is
    published.
    """
    most = {
        "executions": (1 << 63) - 1,
        "execution_errors": (1 << 63) - 1,
        "ecc_uncorrected_rise": 1,
    }
    absurd = [
        real(0, instance_id=f"i-{number}", tera_flops=9e18, latency_p99_max_s=9e18, **most)
        for number in range(50)
    ]
    attacked.live(0, real(0, "serving"), *absurd)
    lines_out = {rollup["ClusterName"]: rollup for rollup in attacked.rollups}
    assert {"training", "serving"} == lines_out.keys()
    assert 100 == lines_out["serving"]["Executions"]
