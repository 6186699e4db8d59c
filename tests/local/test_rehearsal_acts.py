"""The parts of a rehearsal: who plays, what is left for the next start, what is said."""

from __future__ import annotations

import os

import pytest

from local.alarms.template import load
from local.rehearsal.expectation import expected_live
from local.rehearsal.fleet import FLEET, LiveFleet, python_environment
from local.rehearsal.past import _variables
from local.rehearsal.stage import Stage
from tests.local.report_shape import ENDINGS
from tests.local.simulated_reports import truth_line


@pytest.fixture
def stage():
    """A stage whose signals are given back to pytest."""
    with Stage() as opened:
        yield opened


@pytest.fixture
def template(repository):
    """The repository's own template."""
    return load((repository / "template.yaml").read_text(encoding="utf-8"))


def test_variables_of_the_sdk_are_set_for_a_while_only(monkeypatch):
    """And only those: nothing else of this process changes."""
    monkeypatch.setenv("AWS_REGION", "mine")
    url = "http://127.0.0.1:1"
    with _variables({"AWS_REGION": "theirs", "AWS_ENDPOINT_URL": url, "HOME": "x"}):
        assert "theirs" == os.environ["AWS_REGION"]
        assert url == os.environ["AWS_ENDPOINT_URL"]
        assert "x" != os.environ.get("HOME")
    assert "mine" == os.environ["AWS_REGION"]
    assert "AWS_ENDPOINT_URL" not in os.environ


def test_the_users_own_settings_do_not_reach_the_emitters():
    """A cluster name in the user's shell would move every instance into it."""
    base = {"NEURON_EMF_CLUSTER": "mine", "NEURON_SIM_SEED": "9", "PATH": "/bin"}
    found = python_environment(base)
    assert "NEURON_EMF_CLUSTER" not in found
    assert "NEURON_SIM_SEED" not in found
    assert "/bin" == found["PATH"]


def test_live_minutes_count_from_when_all_are_there_to_the_stop(stage):
    """Not the minute in which one had not begun, and not the one that was cut off."""
    opened = LiveFleet(stage, {}, "/g")
    minute_s = 1_799_999_940
    for number, member in enumerate(FLEET):
        truth = stage.folder / f"{number}.truth"
        opened._truths[member] = truth
        opened._started_s[member] = 0.0
        first = 1 if number == 3 else 0
        lines = [
            truth_line(
                instance=member.instance_id,
                at_ms=(minute_s + 60 * minute + 30) * 1000,
                executions={**dict.fromkeys(ENDINGS, 0), "completed": 5},
            )
            for minute in range(first, 4)
        ]
        truth.write_text("\n".join(lines) + "\n", encoding="utf-8")
    found = expected_live(opened, minute_s + 180.0, 0)
    assert {
        (cluster, minute_s + 60 * minute)
        for cluster in ("research", "serving")
        for minute in (1, 2)
    } == set(found)
    assert {4} == {one.instances for one in found.values()}
    assert {20.0} == {one.executions.lo for one in found.values()}
    assert [] == opened.mute(minute_s)
