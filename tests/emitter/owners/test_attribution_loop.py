"""What the reading loop does with owners: on a timetable, with a lookup that the test decides."""

from __future__ import annotations

import json

from loop_rig import records, run
from neuron_reports import counters, report, runtime, written
from played_machines import PlayedMachine, reports_of

from emitter.instance.facts import InstanceFacts
from emitter.owners import OwnerLookup
from emitter.owners.naming import Owner
from neuron_wire import parse


class Known:
    """A lookup that knows all from the start."""

    def __init__(self):
        self.seen = []

    def see(self, pids):
        self.seen += pids

    def of(self, pid):
        return Owner(f"unit:of-{pid}")


def test_a_pod_of_the_cores_comes_before_the_process():
    """Kubernetes itself says to whom it gave a core; the rest is named by its pid."""
    pods = {
        "period": 15,
        "error": "",
        "neuroncores_k8s_info": {
            "0": {"namespace": "search", "pod_name": "llama-0", "container_name": ["a", "b"]}
        },
        "neurondevices_k8s_info": {},
    }
    document = {**reports_of(7, 8), "neuron_k8s_info": pods}
    chunks = [(second, written(document) + b"\n") for second in (1, 6, 11)]
    (minute,) = records(chunks, until_s=30, owners=Known())
    assert ["search/llama-0", "unit:of-8"] == [one.name for one in minute.holders]


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


def test_a_name_found_late_is_a_change(tmp_path, closed_url):
    """The line at the start has no owner; the minute in which it is found has one more line."""
    host = PlayedMachine(tmp_path, closed_url)
    host.process(7, ticks=1)
    owners = OwnerLookup(host.places, clock=lambda: 100.0, is_background=False)

    class Late:
        """The thread comes to it in the second minute."""

        def __init__(self):
            self.reports = 0

        def see(self, pids):
            owners.see(pids)
            self.reports += 1
            if self.reports > 1:
                owners.work()

        of = staticmethod(owners.of)

    document = written(reports_of(7)) + b"\n"
    lines, _ = run(
        [(1, document), (61, document), (121, document)],
        until_s=170,
        owners=Late(),
        runtime_lines="changes",
    )
    found = [json.loads(line) for line in lines]
    assert [("start", None), ("change", "process:python3 ada")] == [
        (one["Reason"], one.get("Owner")) for one in found if one["Kind"] == "runtime"
    ]
