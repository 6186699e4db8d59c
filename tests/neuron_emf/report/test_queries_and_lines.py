"""The saved queries, the lines and the files give the same idle report, out of a strict account."""

from __future__ import annotations

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_emf.reading.periods import Period
from neuron_emf.report.collection import from_files
from tests.neuron_emf.report.minutes import fleets, line_of, rollups_of
from tests.neuron_emf.report.ways import by_lines, by_queries, told


@pytest.mark.usefixtures("full")
def test_of_one_cluster_queries_lines_and_files_say_the_same(hour):
    """To the last digit; only how it was read differs."""
    queried, reading = by_queries(cluster="research")
    fetched, _ = by_lines(cluster="research")
    files = [hour.records_file, hour.rollups_file]
    filed, _ = told(lambda *into: from_files(files, *into), cluster="research")
    assert filed == fetched == queried
    assert 0 < queried["total"]["idle_usd"]
    assert queried["rollups"]["equal_minutes"] == 60
    everything = sum(len(line.encode()) for line in [*hour.lines, *hour.rollups])
    assert everything == reading.bytes_scanned


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=15)
@given(
    records=fleets().filter(bool),
    counts=st.tuples(st.integers(0, 3), st.integers(0, 3), st.sampled_from([1, 3, 10_000])),
)
def test_any_fleet_is_the_same_by_both_ways(made, at, tmp_path, records, counts):
    """With copies, late lines that no rollup has, and answers in pages of any size."""
    late, copies, made.page_rows = counts
    made.rules.applied.clear()
    lines = [line_of(one) for one in records]
    rollups = rollups_of(records[late:])
    made.put_lines(made.records_group, [*lines, *lines[:copies]])
    made.put_lines(made.rollups_group, rollups, late_ms=180_000)
    start_ms = min(one.minute_ms for one in records)
    period = Period(start_ms, max(one.minute_ms for one in records) + 60_000)
    path = tmp_path / "all.jsonl"
    path.write_text("\n".join([*rollups, *lines, *lines[:copies]]), "utf-8")
    filed, _ = told(lambda *into: from_files([path], *into), period)
    assert filed == by_lines(period, at=at)[0] == by_queries(period, at=at)[0]
