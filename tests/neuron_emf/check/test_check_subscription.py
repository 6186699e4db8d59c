"""The way from the log group to the stack: its filter, by name, pattern and receiver."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from neuron_emf.check.aws_client import Answer
from neuron_emf.check.log_groups import PATTERN, LogTarget, check_subscription
from proof.account.account import AccountDouble
from tests.neuron_emf.check.rows import CHECKS

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
        ("arn:aws:firehose:us-west-2:1:deliverystream/neuron-emf", False),
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
        (" ", "lets every line through"),
        ('"CoveredSeconds" "team"', 'lets what matches "CoveredSeconds" "team" through'),
        ('-"CoveredSeconds"', 'lets what matches -"CoveredSeconds" through'),
        ("CoveredSeconds", "lets what matches CoveredSeconds through"),
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


@pytest.mark.usefixtures("reach")
def test_another_stack_has_other_names(checked, monitor):
    """Its rollups and its filter carry its name; those of the first are not taken for them."""
    found = checked("--monitor-command", monitor, "--stack-name", "other")
    failed = [check for check, state in found.states.items() if state == "failed"]
    assert ["rollups log group", "subscription"] == failed
    assert "/neuron-emf/other/rollups" in found.of("rollups log group")["found"]
    assert "there is neuron-emf-minutes" in found.of("subscription")["found"]


def test_a_stream_between_is_right_as_well(checked, monitor, monkeypatch):
    """The template deployed for a large fleet, under a name of its own."""
    with AccountDouble(stack_name="big", Mode="kinesis") as account:
        for name, value in account.variables.items():
            monkeypatch.setenv(name, value)
        found = checked("--monitor-command", monitor, "--stack-name", "big")
    assert CHECKS == found.states
    assert "stream/big-RecordsStream-" in found.of("subscription")["found"]
