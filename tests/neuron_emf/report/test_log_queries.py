"""Queries on a strict account: asked for in pieces, refused, slow, or of one cluster."""

from __future__ import annotations

import pytest

from emitter.errors import SourceError
from neuron_emf.account import account
from neuron_emf.options import AccountSettings
from neuron_emf.reading.periods import Period
from neuron_emf.report import collection, counting, log_queries
from neuron_emf.report.buffer import MinuteBuffer
from neuron_emf.report.log_queries import LogQueries, restricted
from proof.account.account_faults import break_account
from proof.logs.forms import ServiceError
from tests.hour import START_S
from tests.neuron_emf.report.minutes import line_of, minute
from tests.neuron_emf.report.ways import HOUR, by_lines, by_queries, no_sleep

# --- in pieces ---


def test_pieces_are_whole_minutes_that_follow_each_other(made, monkeypatch):
    """A minute in two pieces would be merged in neither, and one in none would be lost."""
    monkeypatch.setattr(log_queries, "MAX_ROWS", 7)
    made.put_lines(made.records_group, [line_of(minute(n)) for n in range(60)])
    start_ms = minute(0).minute_ms
    period = Period(start_ms, start_ms + 3_600_000)
    queries = LogQueries(account(AccountSettings()), no_sleep)
    text = log_queries.MINUTES_QUERY
    pieces = list(queries.pieces(made.records_group, text, period))
    assert 60 == sum(len(rows) for rows in pieces)
    assert all(len(rows) < 7 for rows in pieces)
    assert {7} == {one["limit"] for one in made.started_queries}
    answered = [(one["startTime"], one["endTime"] + 1) for one in made.started_queries]
    assert all(start % 60 == end % 60 == start_ms // 1000 % 60 for start, end in answered)


def test_a_minute_with_more_rows_than_an_answer_has_is_refused(made, monkeypatch):
    """Half a minute cannot be asked for; the other way of reading can."""
    monkeypatch.setattr(log_queries, "MAX_ROWS", 3)
    lines = [line_of(minute(0, instance=f"i-{n}")) for n in range(3)]
    made.put_lines(made.records_group, lines)
    start_ms = minute(0).minute_ms
    with pytest.raises(SourceError, match=r"3 or more rows in one minute.* --read lines"):
        by_queries(Period(start_ms, start_ms + 60_000))


def test_what_the_log_group_no_longer_keeps_is_not_asked_for(full):
    """A query that ends before its first day is refused; one that begins before is not."""
    full.made_ms = START_S * 1000 - 86_400_000
    expected, _ = by_queries()
    long = Period(HOUR.start_ms - 90 * 86_400_000, HOUR.end_ms)
    found, _ = by_queries(long)
    assert expected["total"] == found["total"]


def test_lines_older_than_their_log_group_are_asked_for_all_the_same(full, monkeypatch):
    """
    A spool may have waited for the group: a query that begins before its first moment finds them.
    """
    monkeypatch.setattr(log_queries, "FIRST_PIECE_MINUTES", 15)
    expected, _ = by_lines()
    full.made_ms = HOUR.start_ms + 50 * 60_000
    assert expected["total"] == by_queries()[0]["total"]


@pytest.mark.usefixtures("full")
@pytest.mark.parametrize("read", [by_lines, by_queries])
def test_an_account_is_counted_piece_by_piece(monkeypatch, read):
    """A month does not fit in memory: of 480 lines no more than 100 wait at once."""
    expected, _ = read()
    monkeypatch.setattr(collection, "FIRST_PIECE_MINUTES", 10)
    monkeypatch.setattr(collection, "GROWTH", 1)
    monkeypatch.setattr(log_queries, "MAX_ROWS", 100)
    monkeypatch.setattr(counting, "MinuteBuffer", lambda: MinuteBuffer(100))
    assert expected == read()[0]


# --- troubles ---


def test_a_query_that_does_not_complete_is_told(full):
    """Its rows are not taken for all there are."""
    full.next_ends = ["Timeout"]
    with pytest.raises(SourceError, match="ended as Timeout"):
        by_queries()


@pytest.mark.parametrize("action", ["logs:StartQuery", "logs:GetQueryResults"])
def test_a_permission_that_is_missing_is_named(full, action):
    """With the action, so that it can be allowed."""
    full.denied.add(action)
    with pytest.raises(SourceError, match=action):
        by_queries()


def test_what_only_helps_is_not_needed(full):
    """The idle report is the same without."""
    full.denied.add("logs:DescribeLogGroups")
    assert 0 < by_queries()[0]["total"]["idle_usd"]


@pytest.mark.parametrize("read", [by_lines, by_queries])
def test_rollups_that_cannot_be_read_cost_only_the_comparison(full, read):
    """The money is in the lines."""
    expected, _ = read()
    break_account(full, "rollups group missing")
    found, reading = read()
    assert "ResourceNotFoundException" in reading.rollups_problem
    assert expected["total"] == found["total"]
    assert 0 == found["rollups"]["read"]


def test_too_many_queries_at_once_are_waited_for(full, monkeypatch):
    """A dashboard next door may use up what the account can run; ours waits its turn."""
    slept = []
    monkeypatch.setattr("neuron_emf.account._MAX_ATTEMPTS", 1)  # the SDK waits before each other
    full.service.next_faults["StartQuery"] += [
        ServiceError("LimitExceededException", "100 run.")
    ] * 2
    queries = LogQueries(account(AccountSettings()), slept.append)
    text = log_queries.MINUTES_QUERY
    rows = [row for piece in queries.pieces(full.records_group, text, HOUR) for row in piece]
    assert 480 == len(rows)
    assert [5.0, 5.0] == [one for one in slept if one >= 5]


def test_a_query_that_nobody_waits_for_is_stopped(full):
    """Ctrl-C while it runs: it would go on, and be billed. That it may not changes nothing."""
    full.denied.add("logs:StopQuery")

    def interrupt(_seconds):
        raise KeyboardInterrupt

    queries = LogQueries(account(AccountSettings()), interrupt)
    text = log_queries.MINUTES_QUERY
    with pytest.raises(KeyboardInterrupt):
        list(queries.pieces(full.records_group, text, HOUR))
    assert "StopQuery" == full.operations[-1]


# --- one cluster ---


def test_one_cluster_is_asked_for_in_the_query(full):
    """The index on ClusterName then spares the lines of others."""
    by_queries(cluster="research")
    assert all(
        'filter ClusterName = "research"' in one["queryString"] for one in full.started_queries
    )


@pytest.mark.parametrize("cluster", ['a"b', "a\\b", '" | limit 1 #'])
def test_a_name_that_would_end_its_quotes_is_not_written_in_a_query(cluster):
    """Names of clusters are typed by people and read from lines: none becomes a command."""
    text = log_queries.MINUTES_QUERY
    assert text == restricted(text, cluster)
