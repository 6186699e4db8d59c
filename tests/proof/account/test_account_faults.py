"""
The account's faults, one by one: what is asked of a right account, and what each fault changes.
"""

from __future__ import annotations

from email.utils import parsedate_to_datetime

import pytest
from botocore.exceptions import BotoCoreError, ClientError, ConnectionClosedError

from local.alarms.template import load
from proof.account.account_faults import ACTIONS, EMITTER_ACTIONS, HARMLESS, break_account
from proof.logs import faults
from proof.logs.asking import NOW_MS, NOW_S, error_in, words_of
from proof.logs.rules import RECORDS_GROUP
from tests.stack.policy_statements import as_list, statements

GROUP = {"logGroupName": RECORDS_GROUP}
STREAM = {**GROUP, "logStreamName": "i-0"}
TIMES = {"startTime": int(NOW_S) - 60, "endTime": int(NOW_S)}
DENIED = ("AccessDeniedException", 400)


def calls(client):
    """One call of each action, in an order in which all of them work in a right account."""
    query = {}

    def start():
        query["queryId"] = client.start_query(**GROUP, **TIMES, queryString="limit 1")["queryId"]

    return {
        "CreateLogStream": lambda: client.create_log_stream(**STREAM),
        "PutLogEvents": lambda: client.put_log_events(
            **STREAM, logEvents=[{"timestamp": NOW_MS, "message": "x"}]
        ),
        "FilterLogEvents": lambda: client.filter_log_events(**GROUP),
        "GetLogEvents": lambda: client.get_log_events(**STREAM, startFromHead=True),
        "DescribeLogGroups": client.describe_log_groups,
        "DescribeSubscriptionFilters": lambda: client.describe_subscription_filters(**GROUP),
        "DescribeAccountPolicies": lambda: client.describe_account_policies(
            policyType="METRIC_EXTRACTION_POLICY"
        ),
        "DescribeQueryDefinitions": client.describe_query_definitions,
        "StartQuery": start,
        "GetQueryResults": lambda: client.get_query_results(**query or {"queryId": "none"}),
        "StopQuery": lambda: client.stop_query(**query or {"queryId": "none"}),
    }


def outcomes(client):
    """What every action is answered: nothing wrong, or the name of the error."""
    return {action: _outcome(call) for action, call in calls(client).items()}


def _outcome(call):
    try:
        call()
    except ClientError as error:
        return error.response["Error"]["Code"]
    except BotoCoreError as error:
        return type(error).__name__
    return ""


def test_in_a_right_account_everything_is_answered(account, logs):
    """Every action that the account knows is among them; what it does not know is said."""
    assert dict.fromkeys(ACTIONS, "") == outcomes(logs)
    assert set(ACTIONS) == {
        *(name for name in account.rules.further if name != "GetCallerIdentity"),
        "CreateLogStream",
        "PutLogEvents",
    }
    assert ("UnknownOperationException", 400) == error_in(logs.describe_metric_filters)


@pytest.mark.parametrize("action", ACTIONS)
def test_a_permission_is_missed_by_its_action_alone(action, account, logs):
    """The words name the action, the resource and whoever asked; what hangs on it is not found."""
    break_account(account, f"denied {action}")
    found = outcomes(logs)
    assert "AccessDeniedException" == found.pop(action)
    follows = {
        "CreateLogStream": {"PutLogEvents", "GetLogEvents"},
        "StartQuery": {"GetQueryResults", "StopQuery"},
    }.get(action, set())
    assert {"ResourceNotFoundException"} >= {found.pop(one) for one in follows}
    assert {""} == set(found.values())
    said = words_of(calls(logs)[action])
    assert f"not authorized to perform: logs:{action} on resource: arn:aws:logs:" in said


@pytest.mark.parametrize("action", ACTIONS)
@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("throttled", "ThrottlingException"),
        ("unavailable", "ServiceUnavailableException"),
        ("reset", "ConnectionClosedError"),
    ],
)
def test_a_trouble_is_that_of_its_action_alone(action, fault, expected, account, logs):
    """For every call of it, and of no other."""
    break_account(account, f"{fault} {action}")
    found = outcomes(logs)
    assert expected == found[action]
    assert expected not in {found[one] for one in ACTIONS if one != action}


def test_troubles_are_of_the_next_calls(account, logs):
    """As many as were planned; a late answer comes all the same."""
    account.troubles("FilterLogEvents", faults.THROTTLED, faults.RESET, faults.LATE)
    assert ("ThrottlingException", 400) == error_in(lambda: logs.filter_log_events(**GROUP))
    with pytest.raises(ConnectionClosedError):
        logs.filter_log_events(**GROUP)
    for _ in range(2):
        assert [] == logs.filter_log_events(**GROUP)["events"]
    assert 4 == account.operations.count("FilterLogEvents")


def test_the_emitters_permissions_are_those_of_the_stacks_policy(account, logs, repository):
    """With them alone nothing can be read or described."""
    template = (repository / "template.yaml").read_text(encoding="utf-8")
    granted = {
        action
        for name, statement in statements(load(template))
        if name == "EmitterPolicy"
        for action in as_list(statement["Action"])
    }
    assert granted == EMITTER_ACTIONS
    break_account(account, "emitter's permissions only")
    found = outcomes(logs)
    assert {f"logs:{name}" for name, error in found.items() if not error} == EMITTER_ACTIONS


def state(account, client):
    """What `check` looks at, as AWS describes it."""
    groups = client.describe_log_groups()["logGroups"]
    answer = client.describe_account_policies(policyType="METRIC_EXTRACTION_POLICY")
    date = answer["ResponseMetadata"]["HTTPHeaders"]["date"]
    return {
        "classes": {one["logGroupName"]: one["logGroupClass"] for one in groups},
        "filters": [
            (one["filterName"], one["filterPattern"], one["destinationArn"])
            for one in account.subscriptions
        ],
        "policies": [one.get("selectionCriteria", "") for one in answer["accountPolicies"]],
        "ahead_s": round(parsedate_to_datetime(date).timestamp() - NOW_S),
    }


@pytest.mark.parametrize(
    ("fault", "changed"),
    [
        ("records group missing", {"classes", "filters"}),
        ("rollups group missing", {"classes"}),
        ("records group INFREQUENT_ACCESS", {"classes", "filters"}),
        ("records group ESSENTIALS", {"classes", "filters"}),
        ("rollups group INFREQUENT_ACCESS", {"classes"}),
        ("subscription missing", {"filters"}),
        ("subscription of another name", {"filters"}),
        ("subscription of another pattern", {"filters"}),
        ("subscription to another function", {"filters"}),
        ("extraction off everywhere", {"policies"}),
        ("extraction off for the records group", {"policies"}),
        ("extraction off for the rollups group", {"policies"}),
        ("extraction off for a prefix", {"policies"}),
        ("extraction off but for others", {"policies"}),
        ("clock behind", {"ahead_s"}),
        ("clock ahead", {"ahead_s"}),
        *((name, {"policies"}) for name in HARMLESS if name.startswith("extraction")),
        ("a clock within a minute", {"ahead_s"}),
    ],
)
def test_a_fault_changes_what_it_is_named_after(fault, changed, account, logs):
    """And nothing else: who finds more than one thing wrong has found one too many."""
    before = state(account, logs)
    break_account(account, fault)
    after = state(account, logs)
    assert changed == {name for name, one in after.items() if one != before[name]}


def test_a_clock_is_that_of_the_machine(account, logs):
    """A machine whose clock is ahead is answered with a time that is behind."""
    break_account(account, "clock ahead")
    assert -120 == state(account, logs)["ahead_s"]
    break_account(account, "clock behind")
    break_account(account, "a clock within a minute")
    assert 30 == state(account, logs)["ahead_s"]


def test_what_is_put_may_not_be_found(account, logs):
    """It was taken all the same."""
    break_account(account, "nothing read back")
    assert dict.fromkeys(ACTIONS, "") == outcomes(logs)
    account.reading.empty_pages = 0
    assert [] == logs.filter_log_events(**GROUP)["events"]
    assert ["x"] == [one.message for one in account.rules.applied]


@pytest.mark.parametrize(
    ("fault", "expected"),
    [
        ("credentials expired", "ExpiredTokenException"),
        ("credentials unknown", "UnrecognizedClientException"),
        ("credentials of another secret", "InvalidSignatureException"),
        ("service gone", "EndpointConnectionError"),
    ],
)
def test_what_is_wrong_with_the_caller_or_the_service_is_wrong_everywhere(
    fault, expected, account, logs
):
    """Every call ends so."""
    break_account(account, fault)
    assert {expected} == set(outcomes(logs).values())


def test_lines_of_ours_have_their_own_time_and_stream(account):
    """That of the emitter's line, or of the metrics in it; later if it was printed later."""
    lines = [
        f'{{"Timestamp":{NOW_MS - 9},"InstanceId":"i-0"}}',
        f'{{"_aws":{{"Timestamp":{NOW_MS - 7}}},"InstanceId":"i-1"}}',
    ]
    account.put_lines(RECORDS_GROUP, lines)
    rollup = f'{{"_aws":{{"Timestamp":{NOW_MS - 600_000}}},"ClusterName":"blue"}}'
    account.put_lines(account.rollups_group, [rollup], late_ms=120_000)
    assert [
        ("i-0", NOW_MS - 9, RECORDS_GROUP),
        ("i-1", NOW_MS - 7, RECORDS_GROUP),
        ("blue", NOW_MS - 480_000, account.rollups_group),
    ] == [(one.stream, one.timestamp_ms, one.group) for one in account.rules.applied]
