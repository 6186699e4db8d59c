"""`neuron-emf report` of an account with a ledger: settled hours by rows, the others by lines."""

from __future__ import annotations

import json
from functools import partial

import pytest
from botocore.exceptions import ClientError

from neuron_emf.report import collection, log_queries
from neuron_wire.ledger import PARTS, key_of, packed
from tests.hour import START_S
from tests.neuron_emf.ledger_objects import LedgerObjectsDouble

HOUR = START_S // 3600
PERIOD = ("--since", "2026-11-20T08:00:00Z", "--until", "2026-11-20T09:00:00Z")


class Denied:
    """A bucket that whoever types may not read."""

    def list_objects_v2(self, **_):
        """Refused."""
        raise ClientError({"Error": {"Code": "AccessDenied", "Message": "no"}}, "ListObjectsV2")


class Stack:
    """Answers about the stack: its bucket, its parameters, what it did not count."""

    parameters = ()
    outputs = ({"OutputKey": "LedgerBucketName", "OutputValue": "the-ledger"},)

    def describe_stacks(self, **_):
        """One stack."""
        return {"Stacks": [{"Outputs": list(self.outputs), "Parameters": list(self.parameters)}]}

    def get_metric_data(self, MetricDataQueries, **_):  # noqa: N803  # as boto3 has it
        """Seven records too late on each of two days."""
        return {
            "MetricDataResults": [
                {"Id": one["Id"], "Values": [7.0, 7.0] if one["Id"] == "recordstoolate" else []}
                for one in MetricDataQueries
            ]
        }


@pytest.fixture
def clients():
    """By name of the service; what is not here is the double's."""
    return {"cloudformation": Stack(), "cloudwatch": Stack()}


@pytest.fixture
def typed(typed, full, at, clients, monkeypatch):  # noqa: ARG001 - the account with the hour in it
    """`neuron-emf report` and what follows, about the hour."""

    class WithLedger:
        def __getattr__(self, name):
            return getattr(at, name)

        def client(self, service):
            return clients.get(service) or at.client(service)

    monkeypatch.setattr(collection, "account", lambda _: WithLedger())
    monkeypatch.setattr(log_queries, "_POLLS_S", (0.0,))
    return partial(typed, "report", *PERIOD)


def amounts(shown):
    """What a program is told of money and idle time."""
    names = ("idle_core_minutes", "idle_usd", "avoidable_held_usd", "shared_usd", "sunk_usd")
    lists = {name: shown[name] for name in ("clusters", "owners", "teams", "instances")}
    return {
        name: [[row.get("cluster"), *(row[one] for one in names)] for row in rows]
        for name, rows in [*lists.items(), ("total", [shown["total"]])]
    }


def test_the_hour_by_the_ledger_is_the_hour_by_lines(typed, clients, hour, full):
    """To the last digit; no line is read for an hour that is settled."""
    clients["s3"] = LedgerObjectsDouble(hour.ledger)
    code, out, err = typed("--json")
    ledger = json.loads(out)
    assert (0, "", []) == (code, err, [name for name in full.operations if "Query" in name])
    lines = json.loads(typed("--json", "--from-lines")[1])
    assert amounts(lines) == amounts(ledger)
    reading = ledger["reading"]
    assert (1, 0, 14) == (
        reading["settled_hours"], reading["minute_lines"],
        reading["not_in_the_ledger"]["RecordsTooLate"],
    )  # fmt: skip
    assert (28.24, 60) == (round(ledger["total"]["idle_usd"], 2), ledger["minutes_with_data"])
    shown = " ".join(typed()[1].split())
    assert "Not in the ledger: 14 later than LateMinutes. --from-lines counts" in shown
    assert "Idle cores cost 28.24 USD (list price, us-west-2, 2026-11-22), of which 17.51" in shown


def test_an_hour_that_is_not_settled_is_read_from_lines(typed, clients):
    """The hour before is settled and has no row, so that nothing was there is known."""
    empty = {key_of(HOUR - 1, part): packed([]) for part in range(PARTS)}
    clients["s3"] = LedgerObjectsDouble(empty)
    _, out, _ = typed("--json", "--since", "2026-11-20T07:30:00Z")
    found = json.loads(out)
    assert (1, 480) == (found["reading"]["settled_hours"], found["reading"]["minute_lines"])
    assert ("2026-11-20T07:00:00Z", 120) == (found["start"], found["minutes_with_data"])
    assert 28.24 == round(found["total"]["idle_usd"], 2)


def test_hours_in_neither_are_said(typed, clients, hour):
    """Not taken for hours in which nothing was idle."""
    clients["s3"] = LedgerObjectsDouble(hour.ledger)
    _, out, _ = typed("--since", "2026-11-20T05:00:00Z")
    assert "3 h of the requested 4 h are neither in the ledger nor in lines" in " ".join(
        out.split()
    )


@pytest.mark.parametrize(
    ("bucket", "reason"),
    [
        (Denied(), "s3:ListBucket on the-ledger failed (AccessDenied)"),
        (LedgerObjectsDouble({}), "No hour of this time is settled in bucket the-ledger."),
    ],
)
def test_without_a_ledger_the_lines_are_read_and_it_is_said(typed, clients, bucket, reason):
    """On standard error, and in the report."""
    clients["s3"] = bucket
    code, out, err = typed()
    assert f"Minute lines are read instead of the ledger: {reason}" in err
    assert f"Not read from the ledger: {reason}" in " ".join(out.split())
    assert (0, True) == (code, "Idle cores cost 28.24 USD" in out)


def test_a_bucket_can_be_named_and_own_rules_need_lines(typed, clients, hour):
    """Whoever may not ask CloudFormation names the bucket."""
    clients["s3"] = LedgerObjectsDouble(hour.ledger)
    clients["cloudformation"] = Denied()
    assert 1 == json.loads(typed("--json", "--ledger", "mine")[1])["reading"]["settled_hours"]
    _, _, err = typed("--json", "--price-overrides", "trn1.32xlarge=1")
    assert "--idle-after, --price-overrides and --paid-by-type need the minute lines." in err


def test_the_rules_of_the_stack_count_what_is_not_settled(typed, clients):
    """As settle will, an hour later."""
    clients["cloudformation"].parameters = (
        {"ParameterKey": "IdleAfterMinutes", "ParameterValue": "61"},
    )
    empty = {key_of(HOUR - 1, part): packed([]) for part in range(PARTS)}
    clients["s3"] = LedgerObjectsDouble(empty)
    found = json.loads(typed("--json", "--since", "2026-11-20T07:00:00Z")[1])
    assert (61, 0) == (found["idle_after_minutes"], found["total"]["idle_core_minutes"])
