"""Rule: runtime identity. Four applications tagged "1" overwrote each other's numbers."""

from __future__ import annotations

from proof.factories.groups import memory_used
from proof.factories.reports import Reading, minute_of, sidecar, trn1_nobody


def test_a_runtime_is_its_pid_and_its_tag():
    """
    `pid` + `neuron_runtime_tag`. Tags collide (an unset tag is the pid the container sees: "1"
    everywhere): four runtimes are four.
    """
    reading = Reading()
    record = reading.minute(sidecar(40, 60, 0, 20))
    assert (40.0, 60.0, 0.0, 20.0) == record.utilization_percent
    assert 50 + 51 + 52 + 53 == record.executions
    assert [(9_100 + core, "1", (core,), 50 + core) for core in range(4)] == [
        (one.pid, one.tag, one.cores, one.executions) for one in reading.fold.runtimes
    ]


def test_one_pid_with_two_tags_is_two_runtimes():
    """Pids repeat over time: it is another application that has the number now."""
    reading, document = Reading(), sidecar(40, 0, 0, 0)
    first, second = document["neuron_runtime_data"][:2]
    second["pid"], second["neuron_runtime_tag"] = first["pid"], "2"
    reading.minute({**document, "neuron_runtime_data": [first]},
                   {**document, "neuron_runtime_data": [second]})  # fmt: skip
    assert [(9_100, "1"), (9_100, "2")] == [(one.pid, one.tag) for one in reading.fold.runtimes]


def test_a_gap_of_a_minute_ends_a_runtime():
    """
    A gap of a minute ends a runtime: what comes after it starts anew; without a gap it goes on.
    """
    reading = Reading()
    reasons = []
    for number, document in enumerate((
        sidecar(40, 60), sidecar(40, 60), trn1_nobody(), sidecar(40, 60),
    )):  # fmt: skip
        reading.minute(document, number=number)
        reasons.append([one.reason for one in reading.fold.runtimes])
    assert [["start", "start"], [], [], ["start", "start"]] == reasons
    reading.minute(sidecar(40, 60), number=5)  # nothing was read in the minute before
    assert ["start", "start"] == [one.reason for one in reading.fold.runtimes]


def test_evidence_is_kept_by_runtime():
    """The same tag, other cores: what one holds says nothing of the other."""
    document = sidecar(0, 0, 0, 0)
    document["neuron_runtime_data"][2]["report"]["memory_used"] = memory_used(cores=4)
    assert "aaua" == minute_of(document).core_state
