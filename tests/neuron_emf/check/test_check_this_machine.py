"""What `run` would use of this machine: owners, the kernel's messages, where lines go."""

from __future__ import annotations

import pytest

from emitter.owners import Reach
from neuron_emf.check import this_machine
from neuron_emf.check.settings import CheckSettings
from neuron_emf.check.this_machine import check_attribution, check_kernel_log
from tests.emitter.kernel.kernel_logs import REAL, record
from tests.neuron_emf.check.kernel_double import readable
from tests.neuron_emf.check.rows import CHECKS, GROUPS, LINES

OF_AWS = ("region", "credentials", "clock", *GROUPS, *LINES)


@pytest.mark.parametrize(
    ("found", "state", "words"),
    [
        (Reach(), "ok", "/proc"),
        (Reach(limits=("services", "units"), advice="be root"), "warning", "services and units"),
        (
            Reach(why_not="a namespace of its own", advice="hostPID"),
            "warning",
            "owners are not named",
        ),
    ],
)
def test_what_can_be_named_is_said(monkeypatch, found, state, words):
    """A warning has what to do; every number is right without a name."""
    monkeypatch.setattr(this_machine, "reach", lambda _places: found)
    finding = check_attribution(CheckSettings())
    assert (state, found.advice) == (finding.state, finding.advice)
    assert words in finding.found


@pytest.mark.parametrize(("job", "is_advised"), [("s5K1KKYAYG5D00", True), ("job_4711", False)])
def test_jobs_without_a_number_have_an_advice_of_their_own(monkeypatch, tmp_path, job, is_advised):
    """Where environments are closed, and Slurm 26.05 names control groups by SLUID."""
    (tmp_path / "42").mkdir()
    (tmp_path / "42" / "cgroup").write_text(f"0::/system.slice/slurmstepd.scope/{job}/step_0\n")
    found = Reach(limits=("Slurm jobs",), advice="be root")
    monkeypatch.setattr(this_machine, "reach", lambda _places: found)
    finding = check_attribution(CheckSettings(proc_dir=tmp_path))
    assert is_advised == ("CgroupJobIdPaths=yes" in finding.advice)


@pytest.mark.parametrize("changes", [{"attribution": "none"}, {"input": "/reports.json"}])
def test_nobody_looks_where_run_would_not(monkeypatch, changes):
    """Turned off, or with the reports of another machine."""
    monkeypatch.setattr(this_machine, "reach", None)
    assert "not needed" == check_attribution(CheckSettings(**changes)).state


def test_the_folder_given_is_looked_at(tmp_path):
    """As `run` would: an empty folder names nobody."""
    finding = check_attribution(CheckSettings(proc_dir=tmp_path))
    assert "warning" == finding.state
    assert str(tmp_path) in finding.found


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
    monkeypatch.setattr(this_machine, "opener", readable)
    assert "not needed" == check_kernel_log(CheckSettings(**changes)).state


def test_a_log_that_was_asked_for_is_opened_beside_a_file_too(monkeypatch):
    """Whoever names it knows whose it is."""
    monkeypatch.setattr(this_machine, "opener", readable)
    settings = CheckSettings(kernel_messages="kmsg", input="/reports.json")
    assert "ok" == check_kernel_log(settings).state


def test_where_lines_go_elsewhere_aws_is_not_asked(checked, account, monitor):
    """No question reaches it, and every line of it says why."""
    found = checked("--monitor-command", monitor, "--output", "stdout")
    changed = {**dict.fromkeys(OF_AWS, "not needed"), "output": "ok"}
    assert {**CHECKS, **changed} == found.states
    assert "lines go to" in found.of("log group")["found"]
    assert [] == account.operations
    assert 0 == found.code


def test_the_journal_of_earlier_versions_is_a_warning(monkeypatch):
    """What is read in its place is named, and the option to use."""
    monkeypatch.setattr(this_machine, "opener", readable)
    finding = check_kernel_log(CheckSettings(kernel_messages="journal"))
    assert "warning" == finding.state
    assert "/dev/kmsg" in finding.found
    assert "--kernel-messages auto" in finding.advice
