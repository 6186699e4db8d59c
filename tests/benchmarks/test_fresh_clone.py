"""
The time to the first rollup is taken from what the rehearsal prints, and nothing is left of it.
"""

from __future__ import annotations

import itertools
import os
import subprocess
import time
from pathlib import Path

import pytest

from benchmarks import fresh_clone, month
from benchmarks.scale.fleets import MIDDLE
from benchmarks.scale.switch import share_of_counterfactual
from local.rehearsal.table import ClusterRow, render
from neuron_emf.cost.alternatives import counterfactual_usd
from neuron_emf.cost.assumptions import MODES
from neuron_emf.cost.measurements import read

NOW_S = 1_800_000_100.0
ROWS = render([ClusterRow("serving", None), ClusterRow("research", 1_800_000_000)], NOW_S)
BEGUN = "Starting the embedded AWS on 127.0.0.1 ... done in 1.0 s"


@pytest.fixture
def seconds(monkeypatch):
    """A clock on which each look takes a second."""
    counter = itertools.count(1)
    monkeypatch.setattr(time, "monotonic", lambda: float(next(counter)))


@pytest.fixture
def repository_of_nothing(monkeypatch, tmp_path):
    """What is cloned, without a clone's second."""
    at = tmp_path / "repository"
    subprocess.run(["git", "init", "--quiet", at], check=True)
    monkeypatch.setattr(fresh_clone, "ROOT", at)
    (tmp_path / "work").mkdir()
    return tmp_path / "work"


@pytest.mark.usefixtures("seconds")
def test_the_clock_stops_at_the_first_row_with_a_rollup():
    """A cluster without one is no rollup; the row is the rehearsal's own."""
    without = render([ClusterRow("serving", None)], NOW_S)
    lines = ["ready", BEGUN, *without.splitlines(), *ROWS.splitlines(), "more"]
    found = fresh_clone.watched(lines, 0.0)
    assert (2.0, 1.0) == (found.rollup_s, found.ready_s)
    assert found.last.startswith("research")


def test_a_rehearsal_in_time_is_within_its_limit(monkeypatch, repository_of_nothing):
    """The time is from the clone on, the environments' share beside it."""
    monkeypatch.setattr(fresh_clone, "demo", lambda *_: fresh_clone.Shown(100.0, 60.0, "row"))
    (found,) = fresh_clone.rehearsal(repository_of_nothing)
    assert (100.0, False) == (found.value, found.is_over)
    assert "60 s of it for environments" in found.beside
    assert [] == list(repository_of_nothing.iterdir())


def test_nothing_is_left_of_it(tmp_path):
    """As with Ctrl-C, what it started ends too; what does not hear that is killed."""
    script = (
        "trap '' TERM; sleep 600 & echo $! > child; echo $$ > shell; echo '15:44, 5 s ago'; wait"
    )
    begun_s = time.monotonic()
    found = fresh_clone.demo(["sh", "-c", script], tmp_path, begun_s, ends_within_s=0.5)
    assert found.rollup_s is not None
    deadline_s = time.monotonic() + 5
    for name in ("child", "shell"):
        pid = int((tmp_path / name).read_text())
        while _is_there(pid) and time.monotonic() < deadline_s:
            time.sleep(0.01)
        assert not _is_there(pid)


def _is_there(pid):
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    # An orphan that nobody reaps has ended all the same.
    state = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()[0]
    return state != "Z"


def test_the_month_is_the_page_of_scales_own():
    """Each mode beside PutMetricData, and its limit the promised share."""
    kept = read()
    found = month.costs()
    assert len(MODES) == len(found)
    for mode, one in zip(MODES, found, strict=True):
        share = share_of_counterfactual(kept, MIDDLE, mode)
        assert pytest.approx(share) == one.value / one.reference
        assert pytest.approx(0.03) == one.limit / one.reference
        assert counterfactual_usd(1_000) == one.reference
