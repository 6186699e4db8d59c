"""Owners of the processes in saved reports, by a /proc that was saved with them."""

from __future__ import annotations

from neuron_reports import written
from played_machines import UNIT, PlayedMachine, reports_of

from emitter.replay import replay
from emitter.settings import ReplaySettings
from neuron_wire import parse


def minute_of(folder, saved_proc=None):
    """The minute of three reports in which a process holds a core and does nothing."""
    reports = folder / "reports.json"
    reports.write_bytes((written(reports_of(4242)) + b"\n") * 3)
    settings = ReplaySettings(
        cluster="blue",
        interval=5.0,
        start="2026-01-01T00:00:00Z",
        runtime_lines="none",
        saved_proc=saved_proc,
    )
    (line,) = replay([reports], settings)
    return parse(line)


def test_a_replay_names_owners_by_what_was_saved_and_else_nobody(tmp_path, closed_url):
    """In the first minute; the folder's own name changes no boot."""
    minutes = [minute_of(tmp_path)]
    for folder in ("a", "b"):
        host = PlayedMachine(tmp_path / folder, closed_url)
        host.process(4242, groups=UNIT, ticks=1)
        minutes.append(minute_of(tmp_path, host.proc))
    found = [holder.name for minute in minutes for holder in minute.holders]
    assert [None, "unit:llama", "unit:llama"] == found
    assert 1 == len({minute.boot for minute in minutes})


def test_no_service_is_asked_of_what_was_saved(tmp_path, played, monkeypatch):
    """It would speak of today and of this machine; a pod known to it alone keeps its id."""
    monkeypatch.setattr("emitter.owners.places.exchange", None)  # would be a TypeError, and said
    played.process(4242, groups=f"0::/kubepods/pod{'a' * 32}/{'b' * 64}\n", ticks=1)
    (holder,) = minute_of(tmp_path, played.proc).holders
    assert f"pod:{'a' * 32}" == holder.name


def test_a_saved_proc_without_processes_is_said(tmp_path, caplog):
    """A mistyped folder names nobody, and costs no line."""
    (holder,) = minute_of(tmp_path, tmp_path).holders
    assert holder.name is None
    assert f"no processes in {tmp_path}" in caplog.text
