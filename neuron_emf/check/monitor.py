"""
neuron-monitor is there, starts as `run` would start it, and answers.

It is started with the very configuration that `run` gives it, read until its
first report and stopped by its own process id; other monitors of this machine
are left alone.
"""

from __future__ import annotations

import os
import stat
import tempfile
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.errors import SourceError
from emitter.reports.child import END_WITHIN_S, Child
from emitter.reports.framing import Framer
from emitter.reports.monitor import find_monitor
from emitter.settings.run import MONITOR
from neuron_emf.check.finding import Finding, failed, not_needed, ok, warning

if TYPE_CHECKING:
    from emitter.reports.report import Report
    from neuron_emf.check.settings import CheckSettings

CHECK: Final = "neuron-monitor"
INPUT: Final = "input"

_LOOK_EVERY_S: Final = 0.25
_RUN_IT: Final = "run it by hand to see why"


@dataclass(frozen=True, slots=True)
class Heard:
    """
    What became of one start.

    Attributes:
        finding: For the person.

        report: The first report; None when none came.
    """

    finding: Finding
    report: Report | None = None


def listen(settings: CheckSettings, configuration: str) -> Heard:
    """
    Start the monitor with *configuration*, wait for its first report, stop it.

    Where reports come from elsewhere, nothing is started.
    """
    if settings.input != MONITOR:
        return Heard(not_needed(CHECK, f"reports come from {_input(settings)}"))
    try:
        path = find_monitor(settings.monitor_command)
    except SourceError as error:
        found, _, advice = str(error).partition(": ")
        return Heard(failed(CHECK, found, advice))
    try:
        with tempfile.TemporaryDirectory(prefix="neuron-emf-") as folder:
            file = Path(folder) / "monitor.json"
            file.write_bytes(configuration.encode())
            return _started([path, "-c", str(file)], settings.monitor_seconds)
    except OSError as error:
        said = error.strerror or type(error).__name__
        found = f"no temporary file takes its configuration: {said}"
        return Heard(failed(CHECK, found, "name a folder for it with TMPDIR"))


def check_input(settings: CheckSettings) -> Finding:
    """Whether what `--input` names can be read."""
    if settings.input == MONITOR:
        return not_needed(INPUT, "neuron-monitor is started and read")
    if settings.input == "-":
        return ok(INPUT, "standard input, which is not read by this check")
    path = Path(settings.input)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a NUL in a name out of a file
        said = error.strerror if isinstance(error, OSError) else error
        return failed(INPUT, f"{path}: {said}", "correct --input")
    if stat.S_ISDIR(mode):
        return failed(INPUT, f"{path} is a folder", "name a file or a named pipe with --input")
    if not os.access(path, os.R_OK):
        return failed(INPUT, f"{path} cannot be read by this user", "let this user read it")
    kind = "named pipe" if stat.S_ISFIFO(mode) else "file"
    return ok(INPUT, f"{kind} {path}, which is not read by this check")


def _input(settings: CheckSettings) -> str:
    return "standard input" if settings.input == "-" else settings.input


def _started(command: list[str], within_s: float) -> Heard:
    name = command[0]
    framer = Framer()
    report: Report | None = None
    has_ended = False
    began_s = time.monotonic()
    passed_s = 0.0
    try:
        child = Child(command)
    except OSError as error:
        found = f"{name} could not be started: {error.strerror or type(error).__name__}"
        return Heard(failed(CHECK, found, "make it a program that can run"))
    try:
        while report is None and not has_ended and passed_s < within_s:
            chunk = child.read(min(_LOOK_EVERY_S, within_s - passed_s))
            passed_s = time.monotonic() - began_s
            has_ended = chunk is None
            report = next(iter(framer.end() if chunk is None else framer.feed(chunk)), None)
    finally:
        end = child.stop(END_WITHIN_S if has_ended else 0.0)  # its pid, once; never by name
    if report is not None:
        return Heard(_answered(report, name, passed_s), report)
    said = child.last_words.text()
    words = f"; it said: {said}" if said else ""
    what = f" but what is no report: {framer.last_problem}" if framer.malformed else ""
    if has_ended:
        how = f"signal {end.signal_name}" if end.exit_code is None else f"exit code {end.exit_code}"
        found = f"{name} ended with {how} and wrote nothing{what}{words}"
        return Heard(failed(CHECK, found, _RUN_IT))
    found = f"{name} runs and wrote nothing{what} within {within_s:g} s{words}"
    return Heard(failed(CHECK, found, f"{_RUN_IT}, or allow more with --monitor-seconds"))


def _answered(report: Report, name: str, after_s: float) -> Finding:
    found = f"{name} answered within {after_s:.1f} s"
    if report.dropped_groups:
        groups = ", ".join(sorted(set(report.dropped_groups)))
        return warning(
            CHECK,
            f"{found}, with values of a wrong type in {groups}",
            "what these groups tell is unknown in records: look for a newer neuron-emf",
        )
    return ok(CHECK, found)
