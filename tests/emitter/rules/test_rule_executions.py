"""Rule: executions. Summing every error count of a report counted the same failure twice."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.emitter_process import neuron_emf
from proof.factories.groups import CAUSES, ENDINGS, execution_stats
from proof.factories.reports import (
    Reading,
    inf1_busy,
    inf1_first,
    inf2_loaded,
    line,
    minute_of,
    sidecar,
)

COUNTS = st.fixed_dictionaries({name: st.integers(0, 10**9) for name in ENDINGS})


def stats(causes=None, **endings):
    """The inf1 report with these executions."""
    completed = endings.pop("completed", 0)
    return inf1_busy(execution_stats=execution_stats(completed, causes=causes, **endings))


@given(st.lists(COUNTS, min_size=1, max_size=4))
def test_what_ended_and_what_failed(reports):
    """
    Executions = completed + completed_with_err + completed_with_num_err; ExecutionErrors =
    completed_with_err + completed_with_num_err + timed_out + incorrect_input + failed_to_queue.
    Per-period tallies: sum.
    """
    record = minute_of(*[stats(**counts) for counts in reports])
    assert record.executions == sum(
        each["completed"] + each["completed_with_err"] + each["completed_with_num_err"]
        for each in reports
    )
    assert record.execution_errors == sum(
        sum(each.values()) - each["completed"] for each in reports
    )


def test_per_period_tallies_are_summed_over_the_minute():
    """They are amounts of the period, not totals since start: 12 reports of 300 are 3,600."""
    assert 3600 == minute_of(*[inf1_busy()] * 12).executions


def test_tallies_are_summed_over_the_runtimes():
    """Every runtime has its own."""
    assert 50 + 51 + 52 == minute_of(sidecar(1, 1, 1)).executions


@pytest.mark.parametrize("cause", CAUSES)
def test_error_summary_types_are_never_added(cause):
    """`error_summary` types overlap with these: separate properties, never added."""
    record = minute_of(*[stats({cause: 3}, completed=5, completed_with_err=3)] * 2)
    assert (16, 6) == (record.executions, record.execution_errors)
    assert 6 == record.details[f"Errors{cause.title()}"]
    assert 6 == record.details["ExecutionsCompletedWithErr"]


def test_generic_was_junk():
    """
    `generic` was junk in 2023: a property when > 0, in no metric, in no alarm. 23,650 in a
    second without a failed execution.
    """
    record = minute_of(stats({"generic": 23_650}, completed=100))
    assert (100, 0) == (record.executions, record.execution_errors)
    assert {"ErrorsGeneric": 23_650} == record.details


@pytest.mark.timeout(30)
@pytest.mark.parametrize("tier", ["cluster", "instance", "core", "legacy"])
def test_generic_is_in_no_metric(tier, tmp_path):
    """In no metric, whichever tier is chosen: only a property of the line."""
    (tmp_path / "reports").write_bytes(line(stats({"generic": 23_650}, completed=100)))
    ended = neuron_emf(
        "replay", "--cluster", "blue", "--start", "2026-01-01T00:00:00Z", "--interval", "5",
        "--metrics", tier, tmp_path / "reports", home=tmp_path,
    )  # fmt: skip
    assert 0 == ended.returncode, ended.stderr
    lines = [json.loads(found) for found in ended.stdout.splitlines()]
    (minute,) = [found for found in lines if found["Kind"] == "minute"]
    assert 23_650 == minute["ErrorsGeneric"]
    assert "Generic" not in json.dumps([found.get("_aws") for found in lines])


def test_generic_is_absent():
    """And is absent in 2026, and absent when it is 0."""
    assert {} == minute_of(inf2_loaded()).details
    assert {} == minute_of(inf1_busy()).details


def test_nothing_ran_is_0_and_not_read_is_absent():
    """A runtime that executed nothing says 0; without the group nothing is said."""
    assert (0, 0) == (minute_of(inf1_first()).executions, minute_of(inf1_first()).execution_errors)
    reading, document = Reading(), inf1_busy()
    del document["neuron_runtime_data"][0]["report"]["execution_stats"]
    record = reading.minute(document)
    assert (None, None) == (record.executions, record.execution_errors)
