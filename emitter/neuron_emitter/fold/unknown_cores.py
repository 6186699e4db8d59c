"""
The reasons for unknown cores in the open minute, and report shapes that this version cannot read.

A report that can be read as a whole never gets here, so a good report costs nothing.
"""

from __future__ import annotations

from collections import defaultdict
from typing import TYPE_CHECKING, Final

from neuron_emitter.fold.amounts import is_long_enough
from neuron_emitter.fold.group_errors import public_text
from neuron_emitter.fold.inventory import core_indexes, is_core_key
from neuron_emitter.fold.memory import held_by_memory, usable_memory
from neuron_emitter.logs import Event
from neuron_wire.names import (
    COUNTERS_MISSING,
    COUNTERS_UNREADABLE,
    MAX_CORES,
    NO_RECENT_SAMPLE,
    UNKNOWN_REASONS,
    UNKNOWN_STATE,
)

if TYPE_CHECKING:
    from collections.abc import Set as AbstractSet

    from neuron_emitter.logs import OnEvent
    from neuron_emitter.reports.groups import Runtime, Text, Uses, Whole
    from neuron_emitter.reports.report import Report

MAX_SHAPES_ANNOUNCED: Final = 16
"""The most events about shapes in one boot, even if a tool spells each key differently."""

EVERY_CORE: Final = frozenset(range(MAX_CORES))

_TABLE: Final = "neuroncores_in_use"


class UnknownCores:
    """
    Reasons for unknown cores. They end with the minute; announced shapes end with the boot.

    Attributes:
        at_s: When the newest report was received, seconds since the epoch.
    """

    def __init__(self, on_event: OnEvent) -> None:
        self.at_s = 0.0
        self._on_event = on_event
        self._announced: set[str] = set()
        self.end_minute()

    def end_minute(self) -> None:
        """Start a new minute."""
        self._cores: dict[str, set[int]] = defaultdict(set)

    def main_reason(self, states: str, otherwise: str) -> Text:
        """
        Return the reason of most unknown cores in *states*, or None if each core is known.

        If a core has several reasons, or two reasons have equally many cores, the first reason in
        the list counts. A core without a reason has the reason *otherwise*.
        """
        self.hide_cores(otherwise)
        unknown = {core for core, state in enumerate(states) if state == UNKNOWN_STATE}
        if not unknown:
            return None
        counts = {}
        for reason in UNKNOWN_REASONS:
            counts[reason] = len(unknown & self._cores[reason])
            unknown -= self._cores[reason]
        return max(UNKNOWN_REASONS, key=counts.__getitem__)

    def hide_cores(self, reason: str, cores: AbstractSet[int] = EVERY_CORE) -> AbstractSet[int]:
        """Note *reason* for those of *cores* that get no sample in the minute. Return *cores*."""
        self._cores[reason] |= cores
        return cores

    def hidden_by_tables(self, tables: list[Uses], cores: frozenset[int]) -> set[int]:
        """Return those of *cores* that *tables* may list under a key or shape unknown to us."""
        hidden: set[int] = set()
        for uses in tables:
            fault = _fault_of(uses)
            if fault is not None:
                hidden |= cores - core_indexes(uses)
                self.announce_shape(*fault)
        return hidden

    def failure_of(self, runtime: Runtime, report: Report) -> str:
        """Return why counters of *runtime* show no core. Announce a shape that is the cause."""
        counters = None if runtime.report is None else runtime.report.neuroncore_counters
        if counters is None:
            return missing_reason(report)
        if counters.error:
            return COUNTERS_MISSING
        if not is_long_enough(counters.period):
            return NO_RECENT_SAMPLE
        self.announce_shape(_TABLE, "is missing or lists no core")
        return COUNTERS_MISSING

    def announce_shape(self, member: str, fault: str) -> None:
        """Write an event about *member*, once for each *fault* and boot."""
        text = f"{member} {fault}"
        if text in self._announced or len(self._announced) >= MAX_SHAPES_ANNOUNCED:
            return
        self._announced.add(text)
        message = (
            f"neuron-monitor writes a report of a shape that this version does not know: {text}."
            " Compare the versions of neuron-monitor and of the emitter."
        )
        self._on_event(Event("ReportShapeUnknown", self.at_s, message, {"Member": member}))


def missing_reason(report: Report) -> str:
    """Return why a group that may have the core counters is absent from *report*."""
    return COUNTERS_UNREADABLE if report.dropped_groups else COUNTERS_MISSING


def held_or_all(
    runtime: Runtime, cores: frozenset[int], cores_per_device: Whole
) -> AbstractSet[int]:
    """Return the cores that *runtime* holds, or all *cores* if its memory cannot be read."""
    memory = usable_memory(runtime)
    held = None if memory is None else held_by_memory(memory, cores_per_device)[0]
    return cores if held is None else held


def _fault_of(uses: Uses) -> tuple[str, str] | None:
    """Return the member of *uses* that cannot be read and its fault; None if each can be."""
    strange = next((key for key in uses if not is_core_key(key)), None)
    if strange is not None:
        return _TABLE, f"has the key {public_text(strange)}"
    entries = [use for use in uses.values() if use is not None]
    if entries and all(use.neuroncore_utilization is None for use in entries):
        return "neuroncore_utilization", "is missing"
    return None
