"""One fault at a time: exactly the right line of the list changes, and says what to do."""

from __future__ import annotations

import pytest

from proof.account.account_faults import FAULTS, HARMLESS, break_account
from proof.logs.faults import DENIED
from tests.neuron_emf.check.rows import ARN, CHECKS, GROUPS, LINES, ROWS

OF_BOTH_GROUPS = [name for name in FAULTS if name.endswith("DescribeLogGroups")]
SEVERAL = ["emitter's permissions only", "service gone", *OF_BOTH_GROUPS]


def expected(row):
    changed = dict.fromkeys(row.not_tried, "not tried")
    return {**CHECKS, row.check: row.state, **changed}


def test_every_fault_of_the_account_is_in_this_table():
    """A fault that somebody adds to the double must be found here."""
    assert {*FAULTS} == {*ROWS, *SEVERAL}


@pytest.mark.usefixtures("reach")
def test_of_a_right_account_nothing_is_wrong(checked, monitor):
    """Every check is there, in its order, and the exit code is 0."""
    found = checked("--monitor-command", monitor)
    assert CHECKS == found.states, found.document
    assert list(CHECKS) == list(found.states)
    assert (True, 0) == (found.document["ok"], found.code)
    assert [] == [one for one in found.document["checks"] if one["advice"]]


@pytest.mark.parametrize("fault", ROWS)
def test_exactly_the_right_line_says_it(checked, reach, monitor, fault):
    """The others stay as they were, or say that they wait for it; it says what to do."""
    break_account(reach, fault)
    row = ROWS[fault]
    found = checked("--monitor-command", monitor)
    assert expected(row) == found.states, found.of(row.check)
    said = found.of(row.check)
    assert row.found in said["found"]
    assert row.advice in said["advice"]
    assert int(row.state == "failed") == found.code


@pytest.mark.parametrize("fault", HARMLESS)
def test_what_only_looks_like_a_fault_is_none(checked, reach, monitor, fault):
    """Policies about other groups, and half a minute between two clocks."""
    break_account(reach, fault)
    assert CHECKS == checked("--monitor-command", monitor).states


@pytest.mark.parametrize("fault", OF_BOTH_GROUPS)
def test_groups_that_cannot_be_looked_at_are_not_known(checked, reach, monitor, fault):
    """
    No failure: an emitter may not look at them either, and the line that is written shows the rest.
    """
    break_account(reach, fault)
    found = checked("--monitor-command", monitor)
    changed = {"log group": "warning", "rollups log group": "warning"}
    waiting = dict.fromkeys(("log group class", "rollups log group class"), "not tried")
    assert {**CHECKS, **changed, **waiting} == found.states
    assert "logs:DescribeLogGroups" in found.of("log group")["found"]
    if fault.startswith("denied"):
        assert f"logs:DescribeLogGroups on {ARN}:* is denied" in found.of("log group")["found"]
    assert 0 == found.code


def test_a_service_that_is_not_there_is_one_failure(checked, reach, monitor):
    """Nothing more is asked of it, so that nobody waits once for each line."""
    break_account(reach, "service gone")
    found = checked("--monitor-command", monitor)
    failed = [check for check, state in found.states.items() if state == "failed"]
    assert ["log group"] == failed
    assert "Cannot reach" in found.of("log group")["found"]
    assert "logs.us-west-2.amazonaws.com on port 443" in found.of("log group")["advice"]
    assert "warning" == found.states["credentials"]
    assert "not tried" == found.states["clock"]
    assert ["not tried"] * 8 == [found.states[check] for check in (*GROUPS[1:], *LINES)]
    assert 1 == found.code


def test_each_permission_that_is_missing_is_named(checked, reach, monitor):
    """Not one now and the next after it was granted."""
    break_account(reach, "denied CreateLogStream")
    break_account(reach, "denied PutLogEvents")
    found = checked("--monitor-command", monitor)
    expected_states = {"log stream": "failed", "log line": "failed", "read back": "not tried"}
    assert {**CHECKS, **expected_states} == found.states
    assert "logs:PutLogEvents on" in found.of("log line")["found"]


def test_a_group_with_a_longer_name_is_another_group(checked, reach, monitor):
    """AWS lists by the beginning of a name; one that sorts before or behind is not the one."""
    reach.add_group("/neuron-emf/records-old", "INFREQUENT_ACCESS")
    assert CHECKS == checked("--monitor-command", monitor).states
    break_account(reach, "records group missing")
    found = checked("--monitor-command", monitor)
    assert expected(ROWS["records group missing"]) == found.states


def test_that_nobody_tells_who_asks_is_no_failure(checked, reach, monitor):
    """Lines go to CloudWatch Logs alone: all it costs is the account's number in what follows."""
    reach.service.always["GetCallerIdentity"] = DENIED
    break_account(reach, "denied GetLogEvents")
    found = checked("--monitor-command", monitor)
    assert {**CHECKS, "credentials": "warning", "read back": "warning"} == found.states
    words = "caller unknown: sts:GetCallerIdentity is denied"
    assert words in found.of("credentials")["found"]
    assert found.of("credentials")["advice"].startswith("nothing, if the checks below are ok")
    assert "arn:aws:logs:us-west-2:*:log-group:" in found.of("read back")["found"]
    assert 0 == found.code
