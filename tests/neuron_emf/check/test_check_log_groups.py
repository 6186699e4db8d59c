"""
The way of lines from the log groups: to the stack by its filter, and to metrics.

A filter is known by name, pattern and receiver; a metric extraction policy by the two forms
of its criteria.
"""

from __future__ import annotations

import json
from types import SimpleNamespace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.check.aws_client import Answer
from neuron_emf.check.log_groups import PATTERN, LogTarget, check_subscription, selects
from proof.account.account_faults import add_policy, break_account

GROUPS = st.text("/ab-", min_size=1, max_size=6)
LISTS = st.lists(GROUPS, max_size=5)
TARGET = LogTarget("us-west-2", "records", "rollups", "neuron-emf")
FILTER = {
    "filterName": "neuron-emf-minutes",
    "filterPattern": PATTERN,
    "destinationArn": "arn:aws:lambda:us-west-2:1:function:neuron-emf-IngestFunction-0a1B",
}


def subscribed(**members):
    """What is said of the filter with these members."""
    answer = (Answer("logs:DescribeSubscriptionFilters"), [{**FILTER, **members}])
    return check_subscription(SimpleNamespace(ask_all=lambda *_, **__: answer), TARGET)


@pytest.mark.parametrize(
    ("destination", "is_right"),
    [
        ("arn:aws:lambda:us-west-2:1:function:neuron-emf-IngestFunction-0a1B", True),
        ("arn:aws:kinesis:us-west-2:1:stream/neuron-emf-RecordsStream-0a1B", True),
        ("arn:aws-cn:logs:cn-north-1:1:destination:neuron-emf", True),
        ("arn:aws:lambda:us-west-2:1:function:neuron-IngestFunction-0a1B", True),  # cut short
        ("arn:aws:lambda:us-west-2:1:function:neuron-emf-CloseFunction-0a1B", False),
        ("arn:aws:lambda:us-west-2:1:function:other-IngestFunction-0a1B", False),
        ("", False),
    ],
)
def test_the_receiver_is_known_by_its_name(destination, is_right):
    """The stack's function, its stream, or a destination that stands for another account."""
    result = subscribed(destinationArn=destination)
    assert ("ok" if is_right else "failed") == result.state


@pytest.mark.parametrize(
    ("pattern", "words"),
    [
        ("", "lets every line through"),
        ('"CoveredSeconds" "team"', 'lets what matches "CoveredSeconds" "team" through'),
        (' "CoveredSeconds" ', "delivers minute lines to"),
    ],
)
def test_any_other_pattern_is_not_the_stacks(pattern, words):
    """
    Less than the minute lines is missing in rollups, more is paid for with each invocation. White
    space around the pattern changes nothing.
    """
    result = subscribed(filterPattern=pattern)
    assert ("ok" if "delivers" in words else "failed") == result.state
    assert words in result.found


@given(GROUPS, LISTS, st.sampled_from(["LogGroupName", "LogGroupNamePrefix"]))
def test_not_in_is_all_that_in_is_not(group, values, member):
    """Whatever is listed, each group is in one of the two and not in the other."""
    listed = json.dumps(values)
    inside = selects(f"{member} IN {listed}", group)
    outside = selects(f"{member} NOT IN {listed}", group)
    assert inside is not outside


@pytest.mark.parametrize(
    ("criteria", "is_selected"),
    [
        ("", True),
        ('LogGroupName IN ["/a/b"]', True),
        ('LogGroupName NOT IN ["/a/b", "/c"]', False),
        ('LogGroupNamePrefix IN ["/a"]', True),
        ('LogGroupNamePrefix IN ["/a/b/c"]', False),
        ('  LogGroupName   NOT   IN["/a/b"]  ', False),
        ('LogGroupName IN [\n "/a/b"\n]', True),
    ],
)
def test_the_documented_forms_are_read(criteria, is_selected):
    """By name it is the whole name, by prefix its beginning; without criteria it is every group."""
    assert is_selected is selects(criteria, "/a/b")


@pytest.mark.parametrize(
    "criteria",
    [
        'LogGroupName = "/a"',
        'LogGroupName IN ["/a"] AND LogGroupNamePrefix IN ["/b"]',
        "LogGroupName IN [/a]",
        "LogGroupName IN [1]",
        "LogGroupName IN " + "[" * 10_000 + "]" * 10_000,
    ],
    ids=["equals", "two", "no JSON", "a number", "nested"],
)
def test_a_form_that_nobody_documented_is_not_guessed(criteria):
    """The finding is then a warning that names the policy."""
    assert selects(criteria, "/a/b") is None


def test_criteria_that_cannot_be_read_are_a_warning(checked, reach, monitor):
    """Neither all is well nor nothing works: it is not known, and says which policy it is."""
    add_policy(reach, "strange", "LogGroupTag IN []")
    found = checked("--monitor-command", monitor)
    said = found.of("metric extraction")
    assert ("warning", 0) == (said["state"], found.code)
    assert "the account policy strange cannot be read" in said["found"]
    assert "/neuron-emf/records or /neuron-emf/neuron-emf/rollups" in said["advice"]


def test_without_metrics_only_the_rollups_need_them(checked, reach, monitor):
    """With --metrics none the emitters' lines define none, so a policy about them costs nothing."""
    break_account(reach, "extraction off for the records group")
    words = ("--monitor-command", monitor, "--metrics", "none")
    assert "ok" == checked(*words).states["metric extraction"]
    reach.policies.clear()
    break_account(reach, "extraction off for the rollups group")
    assert "failed" == checked(*words).states["metric extraction"]
    assert "not needed" == checked(*words, "--stack-name", "").states["metric extraction"]
