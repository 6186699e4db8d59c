"""What the reading loop does with owners: on a timetable, with a lookup that the test decides."""

from __future__ import annotations

import json

from loop_rig import records, run
from neuron_reports import counters, report, runtime, written
from played_machines import reports_of

from emitter.instance.facts import InstanceFacts
from emitter.owners.naming import ProcessOwner
from neuron_wire import parse


class Known:
    """A lookup that knows all from the start."""

    def __init__(self):
        self.seen = []

    def note_pids(self, pids):
        self.seen += pids

    def owner_of(self, pid):
        return ProcessOwner(f"unit:of-{pid}")


def test_reports_of_another_instance_name_nobody():
    """Somebody pipes them from elsewhere: their pids are of no process here."""
    document = reports_of(7)
    chunks = [(second, written(document) + b"\n") for second in (1, 6)]
    for here, expected in (("i-0fedcba9876543210", None), (None, "unit:of-7")):
        facts = InstanceFacts(instance_id=here)
        (minute,) = records(
            chunks, until_s=30, owners=Known(), facts=lambda _timeout_s, facts=facts: facts
        )
        assert [expected] == [one.name for one in minute.holders]


def test_the_runtimes_of_a_report_are_looked_for_as_it_comes():
    """So that the first minute has their names; and a runtime without cores has a line with one."""
    known = Known()
    document = report(runtime(counters([0, 0]), pid=9, tag="1"), runtime(pid=10, tag="1"))
    lines, _ = run([(1, written(document) + b"\n")], until_s=30, owners=known, runtime_lines="all")
    assert [9, 10] == known.seen
    found = [json.loads(line) for line in lines]
    assert {9: "unit:of-9", 10: "unit:of-10"} == {
        one["Pid"]: one["Owner"] for one in found if one["Kind"] == "runtime"
    }
    assert parse(lines[0])


def test_a_runtime_that_has_ended_since_is_named_too():
    """Its minute has a line, though it holds nothing any more when the minute closes."""
    reports = [(1, reports_of(9, 10)), (6, reports_of(9))]
    chunks = [(second, written(one) + b"\n") for second, one in reports]
    lines, _ = run(chunks, until_s=30, owners=Known(), runtime_lines="all")
    found = [json.loads(line) for line in lines]
    assert {9: "unit:of-9", 10: "unit:of-10"} == {
        one["Pid"]: one.get("Owner") for one in found if one["Kind"] == "runtime"
    }
