"""What a minute tells only because somebody chose it as a metric."""

from __future__ import annotations

import pytest
from neuron_reports import (
    counters,
    executions,
    hardware_counters,
    minute_of,
    report,
    runtime,
)

from neuron_wire.catalogue import CHOOSABLE

ECC = "EccUncorrectedReported"
RARE = frozenset(one.name for one in CHOOSABLE.values() if one.is_rare and one.family == "tally")
FAILURES = RARE - {ECC}


def test_a_chosen_failure_that_was_not_there_is_0():
    """Each that can be chosen; one that was there is counted, and without a choice none is told."""
    stats = executions(5, timed_out=2)
    found = minute_of(report(runtime(execution_stats=stats)), chosen=RARE).details
    assert {**dict.fromkeys(FAILURES, 0), "ExecutionsTimedOut": 2} == found
    assert {"ExecutionsTimedOut": 2} == minute_of(report(runtime(execution_stats=stats))).details


@pytest.mark.parametrize(
    ("stats", "told"),
    [(None, set()), (executions(5), FAILURES), ({**executions(5), "error_summary": None}, "Exec")],
)
def test_what_was_not_read_is_not_0(stats, told):
    """Without the group none, without errors by cause only the endings."""
    found = minute_of(report(runtime(counters([1.0]), execution_stats=stats)), chosen=RARE)
    expected = {name for name in RARE if name.startswith(told)} if told == "Exec" else set(told)
    assert expected == found.details.keys()


def test_no_runtime_and_no_memory_error_are_0_where_they_are_told():
    """Nobody runs, so nothing failed; the counters were read, and all are 0."""
    system = {"neuron_hw_counters": hardware_counters({"mem_ecc_uncorrected": 0})}
    found = minute_of(report(system_data=system), chosen=RARE, executions_asked=True)
    assert dict.fromkeys(RARE, 0) == found.details
