"""The template's pattern is the grammar of the rules of teams; the first that matches counts."""

from __future__ import annotations

import re
from fnmatch import translate
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from local.alarms.template import load
from neuron_wire.names import PLACEHOLDER_OWNERS
from neuron_wire.teams import (
    TeamRule,
    TeamRules,
    TeamRulesError,
    team_rules,
    team_rules_of_file,
)

TEMPLATE = Path(__file__).parents[2] / "template.yaml"
PARAMETER = load(TEMPLATE.read_text("utf-8"))["Parameters"]["Teams"]
PATTERN = re.compile(PARAMETER["AllowedPattern"], re.ASCII)
TEAMS = "research|slurm:*=ml, research | * = lab ,*|prod/*=serving"


@st.composite
def nearly(draw):
    """Text of the grammar with one character put in, replaced or left out."""
    text = draw(st.from_regex(PATTERN, fullmatch=True))
    at = draw(st.integers(0, len(text)))
    put = draw(st.sampled_from(["", *",=| '\"\\*#\n\u00e9"]))
    return text[:at] + put + text[at + draw(st.integers(0, 1)) :]


@given(st.one_of(st.from_regex(PATTERN, fullmatch=True), nearly(), st.text("a*:/ |=,'\n")))
@example("a|b=c,")
@example("a|b|c=d")
@example("a|b=c=d")
@example("a|b= ")
@example("a|b=c\n")
@example("!|}=~")
def test_the_parser_accepts_what_the_template_accepts(text):
    """Nothing else, and it reads what stands there without the blanks around it."""
    if len(text) > PARAMETER["MaxLength"] or not PATTERN.fullmatch(text):
        with pytest.raises(TeamRulesError):
            team_rules(text)
        return
    expected = [tuple(map(str.strip, re.split(r"[|=]", word))) for word in text.split(",") if text]
    rules = team_rules(text).rules
    assert expected == [(rule.cluster, rule.owner, rule.team) for rule in rules]
    assert all(part for rule in expected for part in rule)


def test_the_first_rule_that_matches_counts():
    """Before what the scheduler knows; where no rule matches it stays, and may be nothing."""
    rules = team_rules(TEAMS)
    assert ["ml", "lab", "serving"] == [
        rules.team_of(cluster, owner, "told")
        for cluster, owner in (
            ("research", "slurm:4711 ml-user"),
            ("research", "prod/llama/server"),
            ("inference", "prod/llama/server"),
        )
    ]
    assert "told" == rules.team_of("inference", "slurm:4711 ml-user", "told")
    assert rules.team_of("inference", "slurm:4711 ml-user") is None
    assert "told" == TeamRules().team_of("research", "slurm:4711 ml-user", "told")


@pytest.mark.parametrize("owner", sorted(PLACEHOLDER_OWNERS))
def test_what_is_nobodys_is_no_teams(owner):
    """Unless a rule names it as it is: then whoever wrote that rule means it."""
    assert team_rules("*|*=ml").team_of("research", owner) is None
    assert "ml" == team_rules(f"research|{owner}=ml").team_of("research", owner)


@given(st.text("ab*", max_size=8), st.text("ab/", max_size=12))
@example("a*a", "a")
@example("a*", "a")
@example("*a*", "ab")
@example("*ab*ab*", "ab")
def test_a_star_is_any_text_and_nothing_else_is(pattern, name):
    """As fnmatch has it, which takes exponential time for some patterns and knows ? and [] too."""
    expected = bool(re.fullmatch(translate(pattern), name))
    assert expected == TeamRule("*", pattern, "team").matches("any", name)


def test_a_file_holds_a_rule_a_line():
    """With comments and blank lines between; of a wrong one number and beginning are told."""
    text = "# who is who\nresearch|slurm:*=ml\n\n  research | * = lab\r\n*|prod/*=serving"
    assert team_rules(TEAMS) == team_rules_of_file(text)
    with pytest.raises(TeamRulesError, match=r"line 2: 'ml', which is not CLUSTER\|OWNER=TEAM"):
        team_rules_of_file("research|slurm:*=ml\nml")
    with pytest.raises(TeamRulesError, match=f"^'{60 * 'a'}', which"):
        team_rules(61 * "a")
