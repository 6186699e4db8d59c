"""
`neuron-emf check --quick`: check that the emitter of this machine works, for a health check.

A supervisor that may restart the emitter calls it each minute, so it fails only for problems
that a restart can solve: an emitter that does not run, or whose reading loop hangs. An unreachable
AWS, a silent neuron-monitor and a full disk are warnings: the emitter itself waits, restarts the
monitor and keeps records, and a restart would only lose the minute in progress. It uses no network
and no neuron-monitor, and writes nothing.
"""

from __future__ import annotations

import os
import time
from typing import TYPE_CHECKING, Final

from neuron_emf.check_results import CheckResult, failed, not_tried, ok, section, warning
from neuron_emitter.health import PULSE_NAME, read_pulse
from neuron_emitter.settings.run_settings import spool_directory
from neuron_emitter.spool.directory import holder_of
from neuron_words.quantity_words import counted, duration

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_emf.check.settings import CheckSettings
    from neuron_emitter.health import Pulse

HANGS_AFTER_S: Final = 150.0  # two missed heartbeats, and half of one for a busy machine
SILENT_AFTER_S: Final = 150.0  # reports come every 15 s at the latest, noticed to the minute
FIRST_REPORT_WITHIN_S: Final = 120.0
UNDELIVERED_AFTER_S: Final = 600.0

CHECKS: Final = ("emitter", "loop", "reports", "delivery", "disk")


def check_pulse(settings: CheckSettings, now_s: float | None = None) -> list[CheckResult]:
    """Return the checks of the emitter's heartbeat, *now_s* on the monotonic clock: `CHECKS`."""
    now_s = time.monotonic() if now_s is None else now_s
    emitter, pulse = _emitter(spool_directory(settings))
    rest = [not_tried("the emitter's state is unknown")] * 4
    if pulse is not None:
        rest = [_loop(pulse, now_s), _reports(pulse, now_s), _delivery(pulse, now_s), _disk(pulse)]
    return section("this machine", dict(zip(CHECKS, (emitter, *rest), strict=True)))


def _emitter(directory: Path | None) -> tuple[CheckResult, Pulse | None]:
    """Check that an emitter runs. Return also its heartbeat."""
    if directory is None:
        sentence = (
            "lines go to standard output and records stay in memory, so there is nothing to check"
        )
        return warning(sentence, "give run and check the same --spool-dir"), None
    try:
        # Once more: it may have been overwritten at this moment.
        pulse = read_pulse(directory) or read_pulse(directory)
    except OSError as error:
        return _unread(directory, error), None
    if pulse is None:
        sentence = f"{directory / PULSE_NAME} was written by another version"
        return warning(sentence, "check with the version that runs"), None
    if not holder_of(directory):
        return failed(f"no process holds {directory}", "start the emitter"), None
    return ok(f"process {pulse.pid} runs and holds {directory}"), pulse


def _unread(directory: Path, error: OSError) -> CheckResult:
    if isinstance(error, FileNotFoundError):
        if directory.exists() and not os.access(directory, os.W_OK):
            return warning(
                f"{directory} cannot be written, so the emitter leaves no pulse and keeps records "
                "in memory",
                "give this user write permission, or choose another folder with --spool-dir",
            )
        return failed(
            f"no emitter has left its pulse in {directory}",
            "start it, or name its folder with --spool-dir",
        )
    reason = error.strerror or type(error).__name__
    return failed(
        f"{directory / PULSE_NAME} cannot be read: {reason}", "check as the emitter's user"
    )


def _loop(pulse: Pulse, now_s: float) -> CheckResult:
    ago_s = now_s - pulse.at_s
    if 0 <= ago_s <= HANGS_AFTER_S:
        return ok(f"seen {ago_s:.0f} s ago")
    sentence = f"last seen {ago_s:.0f} s ago, more than {HANGS_AFTER_S:.0f} s"
    if ago_s < 0:
        sentence = "last seen before this machine was started"
    return failed(sentence, "restart it: its records are kept, the current minute is lost")


def _reports(pulse: Pulse, now_s: float) -> CheckResult:
    result = ok("received in the last minutes")
    silent_s = pulse.at_s - (pulse.reported_s or pulse.started_s)
    limit_s = SILENT_AFTER_S
    if pulse.reported_s is None:
        result = ok(f"none yet, {now_s - pulse.started_s:.0f} s after the start")
        limit_s = FIRST_REPORT_WITHIN_S
    if silent_s <= limit_s:
        return result
    return warning(
        f"none for {silent_s:.0f} s",
        "the emitter starts neuron-monitor again; its log has the output of neuron-monitor",
    )


def _delivery(pulse: Pulse, now_s: float) -> CheckResult:
    if pulse.undelivered_s is None:
        return ok("no records waiting")
    waited_s = now_s - pulse.undelivered_s
    if waited_s > UNDELIVERED_AFTER_S:
        return warning(
            f"{counted(pulse.waiting, 'record')} waiting, none delivered for "
            f"{duration(waited_s / 60)}",
            "they are sent when the destination answers; see the emitter's log",
        )
    return ok(f"{counted(pulse.waiting, 'record')} waiting for the next batch")


def _disk(pulse: Pulse) -> CheckResult:
    if pulse.in_memory:
        return warning(
            f"{counted(pulse.in_memory, 'record')} in memory, the disk cannot be written",
            "free disk space: they are lost if the emitter stops now",
        )
    return ok("can be written")
