"""
Announce errors in reports when they appear and when they disappear.

An error of a group repeats in every report, and some errors are normal: a sidecar without the
host's process namespace cannot read `/proc/N/stat` and reports it every time. An error is therefore
a group and a text without its digits. One event announces it, at most one event an hour repeats it,
and one event announces its end. Other programs write the texts, so anything that could name a
customer is removed.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from re import VERBOSE
from typing import TYPE_CHECKING, Final

from neuron_emitter.logs import Event
from neuron_emitter.reports.groups import (
    Counters,
    Executions,
    Hardware,
    HardwareCounters,
    HostMemory,
    InstanceInfo,
    KubernetesInfo,
    Memory,
    RuntimeVcpu,
    System,
    VcpuUsage,
)

if TYPE_CHECKING:
    from neuron_emitter.logs import OnEvent
    from neuron_emitter.reports.groups import Runtimes
    from neuron_emitter.reports.report import Report

REPEATED_AFTER_S: Final = 3600.0
MAX_KNOWN: Final = 64
"""Texts that are listed separately; further texts of a group count as one."""

RUNTIME: Final = "runtime"
"""The group name in errors of a whole runtime."""

_GROUP_NAMES: Final[dict[type, str]] = {
    Counters: "neuroncore_counters", Executions: "execution_stats", Memory: "memory_used",
    RuntimeVcpu: "neuron_runtime_vcpu_usage", HardwareCounters: "neuron_hw_counters",
    VcpuUsage: "vcpu_usage", HostMemory: "memory_info", InstanceInfo: "instance_info",
    Hardware: "neuron_hardware_info", KubernetesInfo: "neuron_k8s_info",
}  # fmt: skip
_NO_SYSTEM: Final = System()

MAX_GROUP_ERROR_CHARS: Final = 160
OTHER_TEXT: Final = "further errors"

_MAX_READ_CHARS: Final = 1024  # enough characters of a text to distinguish errors
_DIGIT_RUN: Final = re.compile(r"\d+")
_PRIVATE_TEXT: Final = re.compile(
    r"""
    "[^"]*" | '[^']*'                       # what is quoted is a name, a path or a value
    | (?<!\S)(?!/(?:proc|sys|dev)/)
      (?:/\S* | \S*/\S*[/.]\S*)            # a path or address, except those of the system
    | (?=[A-Za-z+_=-]*[0-9])[A-Za-z0-9+_=-]{24,}  # a key, a token, an identifier
    """,
    VERBOSE,
)
_UNPRINTABLE: Final = re.compile(r"[^ -~]+")


@dataclass(slots=True)
class _GroupError:
    """One error: when it was last announced, its count since then, and whether it is present."""

    announced_s: float
    text: str
    unannounced: int = 0
    is_present: bool = True
    is_announced: bool = True  # since its last occurrence
    is_seen: bool = True  # in the open minute


class GroupErrors:
    """The errors of groups and of whole runtimes."""

    def __init__(self, on_event: OnEvent) -> None:
        self._known: dict[tuple[str, str], _GroupError] = {}
        self._has_read = False  # True if the open minute had a report
        self._on_event = on_event

    def add_report(self, report: Report, runtimes: Runtimes | None, at_s: float) -> None:
        """Add the errors of one report; *runtimes* are the runtimes with a live process."""
        self._has_read = True
        # Every report is checked, and few have an error.
        for runtime in runtimes or ():
            if runtime.error:
                self._note(RUNTIME, runtime.error, at_s)
            if (part := runtime.report) is None:
                continue
            for group in (
                part.neuroncore_counters,
                part.execution_stats,
                part.memory_used,
                part.neuron_runtime_vcpu_usage,
            ):
                if group is not None and group.error:
                    self._note(_GROUP_NAMES[type(group)], group.error, at_s)
        system = report.system_data or _NO_SYSTEM
        for shared in (
            report.instance_info,
            report.neuron_hardware_info,
            report.neuron_k8s_info,
            system.neuron_hw_counters,
            system.vcpu_usage,
            system.memory_info,
        ):
            if shared is not None and shared.error:
                self._note(_GROUP_NAMES[type(shared)], shared.error, at_s)

    def end_minute(self, at_s: float) -> None:
        """End the minute at *at_s*: announce the end of errors that no report had in it."""
        if not self._has_read:
            return  # without a report, the end of an error is unknown
        self._has_read = False
        for key, known in list(self._known.items()):
            if known.is_present and not known.is_seen:
                known.is_present = False
                if known.is_announced:
                    known.is_announced = False
                    self._announce("Cleared", key, known, at_s)
            known.is_seen = False
            if not known.is_present and not 0 <= at_s - known.announced_s < REPEATED_AFTER_S:
                del self._known[key]

    def _note(self, group: str, text: str, at_s: float) -> None:
        key = (group, _DIGIT_RUN.sub("N", text[:_MAX_READ_CHARS]))
        known = self._known.get(key)
        if known is None and len(self._known) >= MAX_KNOWN:
            key = (group, OTHER_TEXT)
            known = self._known.get(key)
        if known is None:
            shown = key[1] if key[1] == OTHER_TEXT else public_text(text)
            known = self._known[key] = _GroupError(at_s, shown)
            known.unannounced = 1
            self._announce("", key, known, at_s)
            return
        known.unannounced += 1
        known.is_present = known.is_seen = True
        # If the clock was set back, the hour starts again.
        known.announced_s = min(known.announced_s, at_s)
        if at_s - known.announced_s >= REPEATED_AFTER_S:
            known.announced_s = at_s
            known.is_announced = True
            self._announce("", key, known, at_s)

    def _announce(self, what: str, key: tuple[str, str], known: _GroupError, at_s: float) -> None:
        group = key[0]
        said = known.text
        subject = "a runtime" if group == RUNTIME else f"group {group}"
        name = "RuntimeError" if group == RUNTIME else "GroupError"
        verb = "no longer reports" if what else "reports"
        details: dict[str, str | int] = {"Group": group, "Error": said}
        if known.unannounced:
            details["Count"] = known.unannounced
            known.unannounced = 0
        message = f"neuron-monitor {verb} an error of {subject}: {said}"
        self._on_event(Event(f"{name}{what}", at_s, message, details))


def public_text(text: str) -> str:
    """Return *text* without names, paths and keys, in one line of bounded length."""
    public = _DIGIT_RUN.sub("N", _PRIVATE_TEXT.sub("...", text[:_MAX_READ_CHARS]))
    shown = _UNPRINTABLE.sub(" ", public).strip()
    return (
        shown if len(shown) <= MAX_GROUP_ERROR_CHARS else f"{shown[: MAX_GROUP_ERROR_CHARS - 3]}..."
    )
