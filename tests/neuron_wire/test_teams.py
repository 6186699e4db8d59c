"""Team rules: patterns, files, and owners without a team."""

from __future__ import annotations

import re

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_accounts.prices import ParameterTextError
from neuron_accounts.teams import (
    TeamRule,
    team_rules,
    team_rules_of_file,
)
from neuron_wire.names import PLACEHOLDER_OWNERS

TEAM_RULES_TEXT = "research|slurm:*=ml, research | * = lab ,*|prod/*=serving"


@pytest.mark.parametrize("owner", sorted(PLACEHOLDER_OWNERS))
def test_a_placeholder_owner_has_no_team(owner):
    """A placeholder owner has no team unless a rule names the placeholder literally."""
    assert team_rules("*|*=ml").team_of("research", owner) is None
    assert "ml" == team_rules(f"research|{owner}=ml").team_of("research", owner)


@given(st.text("ab*?[]", max_size=8), st.text("ab/?[]", max_size=12))
@example("a*a", "a")
@example("a*", "a")
@example("*a*", "ab")
@example("*ab*ab*", "ab")
def test_a_star_is_any_text_and_nothing_else_is(pattern, name):
    """Only a star matches any text: `?` and `[]` match themselves."""
    expected = bool(re.fullmatch(".*".join(map(re.escape, pattern.split("*"))), name))
    assert expected == TeamRule("*", pattern, "team").matches("any", name)


def test_a_file_holds_a_rule_a_line():
    """A file of rules may have comments and blank lines; an error names the line number."""
    text = "# who is who\nresearch|slurm:*=ml\n\n  research | * = lab\r\n*|prod/*=serving"
    assert team_rules(TEAM_RULES_TEXT) == team_rules_of_file(text)
    with pytest.raises(ParameterTextError, match=r"line 2: 'ml', which is not CLUSTER\|OWNER=TEAM"):
        team_rules_of_file("research|slurm:*=ml\nml")
    with pytest.raises(ParameterTextError, match=f"^'{60 * 'a'}', which"):
        team_rules(61 * "a")
