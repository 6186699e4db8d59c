"""
Check that neuron-monitor exists, starts as `run` would start it, answers, and sees devices.

It is started with exactly the configuration of `run`, read until its first report, and stopped by
its own process ID; other monitors on this machine are not touched.
"""

from __future__ import annotations

import os
import stat
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emf.check_results import CheckResult, failed, not_needed, not_tried, ok, warning
from neuron_emitter.errors import SourceError
from neuron_emitter.reports.child import END_WITHIN_S, Child
from neuron_emitter.reports.framing import Framer
from neuron_emitter.reports.monitor import config_file, find_monitor
from neuron_emitter.settings.run_settings import MONITOR_INPUT
from neuron_wire.names import (
    COUNTERS_MISSING,
    COUNTERS_UNREADABLE,
    DEVICES_NOT_SEEN,
    REASON_WORDS,
)
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from neuron_emf.check.settings import CheckSettings
    from neuron_emitter.reports.report import Report

_COUNTERS: Final = "neuroncore_counters"
_COUNTERS_ADVICE: Final = (
    f"look at {_COUNTERS} in the output of neuron-monitor, and check for a newer neuron-emf"
)
_ALL_UNKNOWN: Final = "all cores are unknown"
_RUN_IT: Final = "run it manually to see why"
_DRIVER_ADVICE: Final = (
    "install aws-neuronx-dkms, check that /dev/neuron0 exists, and pass it to the container "
    "that neuron-monitor runs in"
)


def check_monitor(settings: CheckSettings, configuration: str) -> tuple[CheckResult, Report | None]:
    """
    Start the monitor with *configuration*, wait for its first report, and stop it.

    Return also the report; None if none came. If reports come from elsewhere, nothing is started.
    """
    if settings.input != MONITOR_INPUT:
        where = "standard input" if settings.input == "-" else settings.input
        return not_needed(f"reports come from {where}"), None
    if not configuration:
        return not_tried("no group of reports is configured"), None
    try:
        path = find_monitor(settings.monitor_command)
        with config_file(configuration) as file:
            config_path = f"/proc/{os.getpid()}/fd/{file.fileno()}"
            return _started([path, "-c", config_path], settings.monitor_seconds)
    except SourceError as error:
        result, _, advice = str(error).partition(". ")
        return failed(result, advice), None


def check_input(settings: CheckSettings) -> CheckResult:
    """Check that `--input` can be read."""
    if settings.input == MONITOR_INPUT:
        return not_needed("neuron-monitor is started and read")
    if settings.input == "-":
        return ok("standard input, which is not read by this check")
    path = Path(settings.input)
    try:
        mode = path.stat().st_mode
    except (OSError, ValueError) as error:  # ValueError: a null byte in a name from a file
        reason = error.strerror if isinstance(error, OSError) else error
        return failed(f"{path}: {reason}", "correct --input")
    if stat.S_ISDIR(mode):
        return failed(f"{path} is a folder", "name a file or a named pipe with --input")
    if not os.access(path, os.R_OK):
        return failed(f"this user cannot read {path}", "give this user read permission")
    file_type = "named pipe" if stat.S_ISFIFO(mode) else "file"
    return ok(f"{file_type} {path}, which is not read by this check")


def _started(command: list[str], within_s: float) -> tuple[CheckResult, Report | None]:
    name = command[0]
    framer = Framer()
    report: Report | None = None
    has_ended = False
    began_s = time.monotonic()
    passed_s = 0.0
    try:
        child = Child(command)
    except OSError as error:
        result = f"{name} could not be started: {error.strerror or type(error).__name__}"
        return failed(result, "make it executable"), None
    try:
        while report is None and not has_ended and passed_s < within_s:
            chunk = child.read_chunk(within_s - passed_s)
            passed_s = time.monotonic() - began_s
            has_ended = chunk is None
            reports = framer.end_input() if chunk is None else framer.frame_chunk(chunk)
            report = next(iter(reports), None)
    finally:
        end = child.stop(END_WITHIN_S if has_ended else 0.0)  # its own pid, once; never by name
    if report is not None:
        result = f"{name} answered within {passed_s:.1f} s"
        if report.dropped_groups:
            groups = ", ".join(sorted(set(report.dropped_groups)))
            return warning(
                f"{result}, with values of a wrong type in {groups}",
                "the values of these groups are unknown in records: check for a newer neuron-emf",
            ), report
        return ok(result), report
    error_output = child.error_tail.text()
    words = f"; its standard error: {error_output}" if error_output else ""
    what = f" but output that is not a report ({framer.last_problem})" if framer.malformed else ""
    if has_ended:
        how = f"signal {end.signal_name}" if end.signal_name else f"exit code {end.code}"
        result = f"{name} ended with {how} and wrote nothing{what}{words}"
        return failed(result, _RUN_IT), None
    result = f"{name} runs and wrote nothing{what} within {within_s:g} s{words}"
    return failed(result, f"{_RUN_IT}, or allow more with --monitor-seconds"), None


def check_devices(
    settings: CheckSettings, report: Report | None, instance_type: str | None
) -> CheckResult:
    """Compare devices and logical cores with those of *instance_type*."""
    if settings.input != MONITOR_INPUT:
        return not_needed("no report is read")
    if report is None:
        return not_tried("there is no report")
    hardware = report.neuron_hardware_info
    if hardware is None:
        return warning(
            f"the first report has no hardware information: {_ALL_UNKNOWN}",
            "cores are taken from the instance type: update aws-neuronx-tools",
        )
    devices = max(0, hardware.neuron_device_count or 0)
    cores = devices * max(0, hardware.neuroncore_per_device_count or 0)
    if hardware.error or not cores:
        why = f": {_line(hardware.error)}" if hardware.error else ""
        return failed(f"{REASON_WORDS[DEVICES_NOT_SEEN]}{why}: {_ALL_UNKNOWN}", _DRIVER_ADVICE)
    device_type = (
        f" of type {_line(hardware.neuron_device_type)}" if hardware.neuron_device_type else ""
    )
    seen = f"{counted(devices, 'device')}{device_type}, {counted(cores, 'logical core')}"
    result = ok(seen)
    known = INSTANCE_TYPES.get(instance_type or "")
    if unseen := _unseen_counters(report):
        result = warning(f"{seen}; cores are unknown: {REASON_WORDS[unseen]}", _COUNTERS_ADVICE)
    elif known is not None and devices < known.devices:
        result = warning(
            f"{seen}, of the {known.devices} devices of {known.name}",
            "no action if a container has only a part of the instance; otherwise pass all "
            "devices to it, because every figure lacks the others",
        )
    return result


def _unseen_counters(report: Report) -> str:
    """Return the reason why cores of *report* are unknown; empty if none are."""
    if _COUNTERS in report.dropped_groups:
        return COUNTERS_UNREADABLE
    for runtime in report.neuron_runtime_data or ():
        counters = runtime.report.neuroncore_counters if runtime.report else None
        if counters is None or counters.error or not counters.neuroncores_in_use:
            return COUNTERS_MISSING
    return ""


def _line(text: str) -> str:
    return " ".join(text.split())[:200]
