"""StartQuery, GetQueryResults and StopQuery of the account, rule by rule, with their words."""

from __future__ import annotations

import json

import pytest

from proof.logs.asking import INVALID, NOT_FOUND, NOW_MS, NOW_S, error_in, words_of
from proof.logs.documentation import says
from proof.logs.rules import RECORDS_GROUP

START = "StartQuery"
REQUEST = "StartQueryRequest"
NOW = int(NOW_S)
MALFORMED = ("MalformedQueryException", 400)
EVERYTHING = {"logGroupName": RECORDS_GROUP, "startTime": NOW - 3600, "endTime": NOW}
LIMIT_PAGE = "https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/CWL_QuerySyntax-Limit.html"


@pytest.fixture
def asked(account, logs):
    """Start a query, ask until it has ended, and give the last answer."""

    def ended(text, **more):
        query_id = logs.start_query(**{**EVERYTHING, "queryString": text, **more})["queryId"]
        while True:
            answer = logs.get_query_results(queryId=query_id)
            if answer["status"] not in {"Scheduled", "Running"}:
                return answer

    account.put(
        RECORDS_GROUP, "i-0", [(NOW_MS - 1000 * n, json.dumps({"N": n})) for n in range(100)]
    )
    return ended


@pytest.fixture
def refusal(logs):
    """The name and status of the error that a query gets."""
    return lambda **asked: error_in(
        lambda: logs.start_query(**{**EVERYTHING, "queryString": "limit 1", **asked})
    )


def rows(answer):
    """Rows as mappings, without their pointers."""
    found = [{one["field"]: one["value"] for one in row} for row in answer["results"]]
    return [{name: one for name, one in row.items() if name != "@ptr"} for row in found]


@says(
    "GetQueryResults",
    "If the value of the Status field in the output is Running , this operation returns only"
    " partial results.",
)
def test_a_query_is_scheduled_then_runs_then_is_complete(logs, asked):
    """Who takes what there is while it runs has a part."""
    assert "Complete" == asked("limit 1")["status"]
    query_id = logs.start_query(**EVERYTHING, queryString="fields N")["queryId"]
    answers = [logs.get_query_results(queryId=query_id) for _ in range(4)]
    assert [("Scheduled", 0), ("Running", 50), ("Complete", 100), ("Complete", 100)] == [
        (one["status"], len(one["results"])) for one in answers
    ]
    assert [0, 0, 100] == [one["statistics"]["recordsScanned"] for one in answers[:3]]


@says(f"{REQUEST}.startTime", "The range is inclusive", "the number of seconds since January 1")
@says(f"{REQUEST}.endTime", "The range is inclusive", "the number of seconds since January 1")
def test_both_ends_of_the_time_are_seconds_and_in_it(asked, refusal):
    """Milliseconds would be in the far future, where nothing is."""
    found = asked("fields N", startTime=NOW - 3, endTime=NOW - 1)
    assert [{"N": "1"}, {"N": "2"}, {"N": "3"}] == rows(found)
    assert [] == rows(asked("fields N", startTime=NOW_MS, endTime=NOW_MS))
    assert INVALID == refusal(startTime=NOW, endTime=NOW - 1)


@says("QueryStatistics.bytesScanned", "The total number of bytes in the log events scanned")
@says("QueryStatistics.recordsMatched", "The number of log events that matched the query string.")
def test_what_was_scanned_is_told(asked):
    """All events of the time range, whatever the query lets through; it is what is paid for."""
    statistics = asked("filter N < 2 | stats count(*) as Count by bin(1h)")["statistics"]
    assert 100 == statistics["recordsScanned"]
    assert 2 == statistics["recordsMatched"]
    assert sum(len(json.dumps({"N": n})) for n in range(100)) == statistics["bytesScanned"]


@says("GetQueryResults", "Only the fields requested in the query are returned, along with a @ptr")
def test_a_row_that_is_a_line_has_a_pointer(asked):
    """The newest line first; a row that was computed has none."""
    (first, _) = asked("limit 2")["results"]
    assert ["@timestamp", "@message", "@ptr"] == [one["field"] for one in first]
    assert ["2027-01-15 08:00:00.000", '{"N": 0}'] == [one["value"] for one in first[:2]]
    (row,) = asked("stats count(*) as Count")["results"]
    assert [{"field": "Count", "value": "100"}] == row


@says("ResultField.value", "The value of this field.")
def test_a_value_is_text(account, asked):
    """Moments as dates, what was computed with four decimals, what the line has as it has it."""
    account.put(RECORDS_GROUP, "i-1", [(NOW_MS, json.dumps({"X": 1 / 3, "Yes": True, "T": "t"}))])
    query = "filter ispresent(X) | fields X, X / 2 as Half, Yes, T, @logStream, Nothing"
    assert [{"X": repr(1 / 3), "Half": "0.1667", "Yes": "1", "T": "t", "@logStream": "i-1"}] == (
        rows(asked(query))
    )
    times = "stats max(@timestamp) as Last, avg(X) as Mean by bin(1h) as Hour | sort Hour desc"
    assert {"Hour": "2027-01-15 08:00:00.000", "Last": str(NOW_MS), "Mean": "0.3333"} == rows(
        asked(times)
    )[0]


@says(LIMIT_PAGE, "If you omit limit, the query will return as many as 10,000 log events")
@says("EventsLimitStartQuery", "min: 1 max: 100000")
@says(
    "GetQueryResults",
    "Use the nextToken returned in the response to request additional pages of results, with each"
    " page returning up to 10,000 log events.",
)
def test_rows_end_at_10000_and_pages_too(account, logs, asked):
    """Unless the request asks for more; then the rest is on further pages."""
    account.put(RECORDS_GROUP, "i-1", [(NOW_MS - n, "x") for n in range(10_900)])
    short = asked("fields @message")
    assert (10_000, False) == (len(short["results"]), "nextToken" in short)
    query_id = logs.start_query(**EVERYTHING, queryString="fields @message", limit=11_000)
    query_id = query_id["queryId"]
    for _ in range(3):
        first = logs.get_query_results(queryId=query_id)
    assert 10_000 == len(first["results"])
    rest = logs.get_query_results(queryId=query_id, nextToken=first["nextToken"])
    assert (1_000, False) == (len(rest["results"]), "nextToken" in rest)
    assert INVALID == error_in(lambda: logs.start_query(**EVERYTHING, queryString="", limit=0))


def test_the_log_group_is_named_by_the_request(refusal):
    """It must be there; what nothing of ours asks is not played."""
    assert INVALID == refusal(logGroupName=None)
    assert NOT_FOUND == refusal(logGroupName="/other")
    assert ("NotPlayed", 501) == refusal(logGroupNames=[RECORDS_GROUP])
    assert ("NotPlayed", 501) == refusal(queryString=f'SOURCE "{RECORDS_GROUP}" | limit 1')


@says("MalformedQueryException", "The query string is not valid.")
@says("QueryString", "min: 0 max: 10000")
def test_a_query_that_cannot_be_read_is_malformed(account, refusal, logs):
    """So is one whose placeholder nobody filled, and one about a time that nothing is left of."""
    assert MALFORMED == refusal(queryString="frobnicate")
    assert MALFORMED == refusal(queryString="filter InstanceId = {{InstanceId}}")
    assert INVALID == refusal(queryString="#" * 10_001)
    month_s = 30 * 86_400
    assert MALFORMED == refusal(startTime=NOW - 2 * month_s, endTime=NOW - month_s - 1)
    account.groups.of(RECORDS_GROUP).retention_days = 5
    late = {**EVERYTHING, "startTime": NOW - month_s, "endTime": NOW - 6 * 86_400}
    assert "retention" in words_of(lambda: logs.start_query(**late, queryString="limit 1"))


@says(START, "You can have up to 100 concurrent CloudWatch Logs insights queries")
def test_100_queries_run_at_once(logs, refusal):
    """One more is refused until one has ended."""
    ids = [logs.start_query(**EVERYTHING, queryString="limit 1")["queryId"] for _ in range(100)]
    assert ("LimitExceededException", 400) == refusal()
    logs.stop_query(queryId=ids[0])
    assert logs.start_query(**EVERYTHING, queryString="limit 1")


@says(
    "StopQuery",
    "If the query has already ended, the operation returns an error indicating that the specified"
    " query is not running.",
)
def test_a_query_is_stopped_once(logs):
    """Then it is cancelled, and has no rows."""
    query_id = {"queryId": logs.start_query(**EVERYTHING, queryString="limit 1")["queryId"]}
    assert logs.stop_query(**query_id)["success"]
    assert "Cancelled" == logs.get_query_results(**query_id)["status"]
    assert INVALID == error_in(lambda: logs.stop_query(**query_id))
    assert NOT_FOUND == error_in(lambda: logs.stop_query(queryId="none"))
    assert NOT_FOUND == error_in(lambda: logs.get_query_results(queryId="none"))


@says(
    "GetQueryResultsResponse.status",
    "Possible values are Cancelled , Complete , Failed , Running , Scheduled , Timeout , and",
)
@pytest.mark.parametrize("end", ["Failed", "Timeout", "Cancelled"])
def test_a_query_may_end_without_an_answer(end, account, asked):
    """As planned; or because it asks for what the documentation leaves open."""
    account.queries.next_ends.append(end)
    answer = asked("fields N")
    assert (end, []) == (answer["status"], answer["results"])
    assert "Complete" == asked("fields N")["status"]
    assert "Failed" == asked("fields jsonParse(@message) as l | unnest l.Nothing into x")["status"]
