"""Which log groups a metric extraction policy is about: the two forms of its criteria."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.check.extraction import selects
from proof.account.account_faults import add_policy, break_account

GROUPS = st.text("/ab-", min_size=1, max_size=6)
LISTS = st.lists(GROUPS, max_size=5)


@given(GROUPS, LISTS, st.sampled_from(["LogGroupName", "LogGroupNamePrefix"]))
def test_not_in_is_all_that_in_is_not(group, values, member):
    """Whatever is listed, each group is in one of the two and not in the other."""
    listed = json.dumps(values)
    inside = selects(f"{member} IN {listed}", group)
    outside = selects(f"{member} NOT IN {listed}", group)
    assert inside is not outside


@given(GROUPS, LISTS)
def test_a_name_is_a_prefix_of_itself(group, values):
    """So whatever is listed by name is listed by prefix as well."""
    listed = json.dumps(values)
    if selects(f"LogGroupName IN {listed}", group):
        assert selects(f"LogGroupNamePrefix IN {listed}", group)


@given(GROUPS, LISTS, LISTS)
def test_a_longer_list_selects_more(group, some, more):
    """Adding a value never takes a group out."""
    for member in ("LogGroupName", "LogGroupNamePrefix"):
        if selects(f"{member} IN {json.dumps(some)}", group):
            assert selects(f"{member} IN {json.dumps(some + more)}", group)


@pytest.mark.parametrize(
    ("criteria", "is_selected"),
    [
        (None, True),
        ("", True),
        ('LogGroupName IN ["/a/b"]', True),
        ('LogGroupName IN ["/a"]', False),
        ('LogGroupName NOT IN ["/a/b", "/c"]', False),
        ('LogGroupNamePrefix IN ["/a"]', True),
        ('LogGroupNamePrefix IN ["/a/b/c"]', False),
        ('LogGroupNamePrefix NOT IN ["/aws/"]', True),
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
        'LogGroupClass IN ["STANDARD"]',
        'LogGroupName IN ["/a"] AND LogGroupNamePrefix IN ["/b"]',
        "LogGroupName IN [/a]",
        "LogGroupName IN [1]",
        "LogGroupName IN " + "[" * 10_000 + "]" * 10_000,
        'LogGroupName IN "/a"',
        "NOT IN [",
    ],
    ids=["equals", "class", "two", "no JSON", "a number", "nested", "no list", "no member"],
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
