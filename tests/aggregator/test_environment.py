"""What the template tells both functions."""

from __future__ import annotations

import pytest

from aggregator.environment import Rules, SettingError, read_environment

NEEDED_VARIABLES = {"TABLE_NAME": "records", "STACK_NAME": "neuron-emf"}


def test_rules_that_are_not_given_have_their_defaults():
    """Empty counts as not given: that is how CloudFormation writes it."""
    assert Rules() == read_environment({**NEEDED_VARIABLES, "GRACE_SECONDS": ""}).rules


def test_every_rule_is_read():
    """Each from its own variable."""
    given = {
        "GRACE_SECONDS": "90", "LATE_MINUTES": "60", "IDLE_AFTER_MINUTES": "30",
        "SILENT_AFTER_MINUTES": "10", "MAX_CLUSTERS": "7",
    }  # fmt: skip
    assert Rules(90, 60, 30, 10, 7) == read_environment({**NEEDED_VARIABLES, **given}).rules


def test_the_groups_the_stack_writes_to_are_its_own():
    """Those of rollups and of messages, and the group of the function itself."""
    groups = {"ROLLUPS_LOG_GROUP": "rollups", "MESSAGES_LOG_GROUP": "explain"}
    found = read_environment({**NEEDED_VARIABLES, **groups, "AWS_LAMBDA_LOG_GROUP_NAME": "ingest"})
    assert (frozenset({"rollups", "explain", "ingest"}), "ingest") == (
        found.own_log_groups,
        found.own_log_group,
    )
    assert frozenset() == read_environment(NEEDED_VARIABLES).own_log_groups


@pytest.mark.parametrize("name", ["TABLE_NAME", "STACK_NAME"])
def test_what_has_no_default_must_be_given(name):
    """The message names the variable."""
    with pytest.raises(SettingError, match=name):
        read_environment({**NEEDED_VARIABLES, name: " "})


@pytest.mark.parametrize("text", ["44", "901", "1.5", "-1", "ten", "²"])
def test_a_value_out_of_range_is_refused(text):
    """The message says what was expected and what was found."""
    with pytest.raises(SettingError, match="Use a whole number from 45 to 900"):
        read_environment({**NEEDED_VARIABLES, "GRACE_SECONDS": text})


def test_forgetting_before_silence_is_refused():
    """After an hour an instance is forgotten: nobody would ever be silent."""
    with pytest.raises(SettingError, match="Use a whole number from 1 to 60"):
        read_environment({**NEEDED_VARIABLES, "SILENT_AFTER_MINUTES": "61"})
