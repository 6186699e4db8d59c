"""The check says whether hardware faults are counted, and never fails for it."""

from __future__ import annotations

import pytest

from neuron_emf.check import kernel_log
from neuron_emf.check.kernel_log import check_kernel_log
from neuron_emf.check.settings import CheckSettings
from proof.factories.kernel_logs import REAL, record
from tests.neuron_emf.check.kernel_double import readable


def test_a_log_that_may_be_read_is_ok(tmp_path):
    """And is named."""
    path = tmp_path / "kmsg"
    path.write_bytes(record(1, 1, REAL))
    finding = check_kernel_log(CheckSettings(kernel_messages=f"file:{path}"))
    assert ("ok", "") == (finding.state, finding.advice)
    assert f"counted by what {path} says" in finding.found


def test_a_log_that_may_not_be_read_is_a_warning(tmp_path):
    """With what to do: every other number is right without."""
    finding = check_kernel_log(CheckSettings(kernel_messages=f"file:{tmp_path / 'none'}"))
    assert "warning" == finding.state
    assert "not counted" in finding.found
    assert "CAP_SYSLOG" in finding.advice


@pytest.mark.parametrize("changes", [{"kernel_messages": "none"}, {"input": "/reports.json"}])
def test_no_log_is_opened_where_run_would_open_none(monkeypatch, changes):
    """Turned off, or with the reports of another machine."""
    monkeypatch.setattr(kernel_log, "opener", readable)
    assert "not needed" == check_kernel_log(CheckSettings(**changes)).state


def test_a_log_that_was_asked_for_is_opened_beside_a_file_too(monkeypatch):
    """Whoever names it knows whose it is."""
    monkeypatch.setattr(kernel_log, "opener", readable)
    settings = CheckSettings(kernel_messages="kmsg", input="/reports.json")
    assert "ok" == check_kernel_log(settings).state


def test_the_journal_of_earlier_versions_is_a_warning(monkeypatch):
    """What is read in its place is named, and the option to use."""
    monkeypatch.setattr(kernel_log, "opener", readable)
    finding = check_kernel_log(CheckSettings(kernel_messages="journal"))
    assert "warning" == finding.state
    assert "/dev/kmsg" in finding.found
    assert "--kernel-messages auto" in finding.advice
