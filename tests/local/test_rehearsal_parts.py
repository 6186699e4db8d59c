"""The parts of a rehearsal: who plays, what is left for the next start, what is said."""

from __future__ import annotations

from types import SimpleNamespace

import pytest

from emitter.fold import Fold, FoldSettings
from local.alarms.template import load_template
from local.pump.pump import Counts
from local.rehearsal.fleet import FLEET, LiveFleet, python_environment
from local.rehearsal.past import state_after
from local.rehearsal.stack import DeployedStack, overrides
from local.rehearsal.stage import Stage
from local.rehearsal.verdict import expected_live
from proof.factories.records import record
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
    return load_template(repository / "template.yaml")


def test_the_next_start_goes_on_counting_idle_minutes():
    """What history leaves in a spool is what an emitter would have left."""
    last = record(instance_id="i-1", minute_ms=1_799_999_940_000, idle_minutes=(0, 59))
    fold = Fold(FoldSettings(), state_after(last))
    assert "i-1" == fold.instance.instance_id
    assert [0, 59] == fold._idle.minutes
    assert 1_799_999_940 // 60 == fold._idle.label


def test_the_users_own_settings_do_not_reach_the_emitters():
    """A cluster name in the user's shell would move every instance into it."""
    base = {"NEURON_EMF_CLUSTER": "mine", "NEURON_SIM": "{}", "PATH": "/bin"}
    found = python_environment(base)
    assert "NEURON_EMF_CLUSTER" not in found
    assert "NEURON_SIM" not in found
    assert "/bin" == found["PATH"]


def test_live_minutes_count_from_when_all_are_there_to_the_stop(stage):
    """Not the minute in which one had not begun, and not the one that was cut off."""
    opened = LiveFleet(stage, {}, "/g")
    minute_s = 1_799_999_940
    for number, member in enumerate(FLEET):
        truth = stage.folder / f"{number}.truth"
        opened._truths[member] = truth
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
    found = expected_live(opened, minute_s + 180.0)
    assert {
        (cluster, minute_s + 60 * minute)
        for cluster in ("research", "serving")
        for minute in (1, 2)
    } == set(found)
    assert {5} == {one["Instances"].lo for one in found.values()}
    assert {25.0} == {one["Executions"].lo for one in found.values()}
    assert [] == opened.mute()
    opened._truths[FLEET[5]].write_text("", encoding="utf-8")
    assert [FLEET[5]] == opened.mute()


def test_only_what_the_template_offers_is_overridden(template):
    """A Python that no Lambda runtime has leaves the template's default."""
    found = overrides(template)
    assert found["Architecture"] in template["Parameters"]["Architecture"]["AllowedValues"]
    template["Parameters"]["Runtime"]["AllowedValues"] = ["python3.99"]
    assert "Runtime" not in overrides(template)


def test_lines_that_would_not_be_extracted_are_a_problem():
    """CloudWatch would drop their metrics without a word."""
    counts = Counts(emf_lines=10)
    stack = SimpleNamespace(pump=SimpleNamespace(counts=counts))
    assert [] == DeployedStack.refused_lines(stack)
    counts.refused = 3
    counts.rules.update({"json": 1, "unit": 2})
    assert ["3 of 10 EMF lines would not be extracted: json 1 times, unit 2 times"] == (
        DeployedStack.refused_lines(stack)
    )
