"""The check says whether owners can be named, and never fails for it."""

from __future__ import annotations

import pytest

from emitter.owners import Reach
from neuron_emf.check import attribution
from neuron_emf.check.attribution import check_attribution
from neuron_emf.check.settings import CheckSettings


@pytest.mark.parametrize(
    ("found", "state", "words"),
    [
        (Reach(), "ok", "/proc"),
        (
            Reach(limits=("ECS services", "units"), advice="be root"),
            "warning",
            "services and units",
        ),
        (Reach(why_not="a namespace of its own", advice="hostPID"), "warning", "nobody is named"),
    ],
)
def test_what_can_be_named_is_said(monkeypatch, found, state, words):
    """A warning has what to do; every number is right without a name."""
    monkeypatch.setattr(attribution, "reach", lambda _places: found)
    finding = check_attribution(CheckSettings())
    assert (state, found.advice) == (finding.state, finding.advice)
    assert words in finding.found


@pytest.mark.parametrize("changes", [{"attribution": "none"}, {"input": "/reports.json"}])
def test_nobody_looks_where_run_would_not(monkeypatch, changes):
    """Turned off, or with the reports of another machine."""
    monkeypatch.setattr(attribution, "reach", None)
    assert "not needed" == check_attribution(CheckSettings(**changes)).state


def test_the_folder_given_is_looked_at(tmp_path):
    """As `run` would: an empty folder names nobody."""
    finding = check_attribution(CheckSettings(proc_dir=tmp_path))
    assert "warning" == finding.state
    assert str(tmp_path) in finding.found
