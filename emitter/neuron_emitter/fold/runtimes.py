"""
The runtimes of the open minute: their work, and the cores that they hold.

A runtime holds a core if bytes or a model are on it. Listing a core is not holding it: every
runtime lists every core that it can see. Only a runtime without a usable memory group is assumed to
hold all cores it lists, because there is no other evidence. The last report of the minute with the
runtime's memory decides, otherwise the last report with its counters, so the result is computed
when the minute closes.
"""

from __future__ import annotations

import re
from itertools import chain
from re import IGNORECASE
from typing import TYPE_CHECKING, Final

from neuron_emitter.fold.amounts import MAX_PERIOD_S, MAX_VCPU_PERCENT, SHORTEST_PERIOD_S
from neuron_emitter.fold.executions import ExecutionFold
from neuron_emitter.fold.inventory import core_indexes
from neuron_emitter.fold.memory import held_by_memory, usable_memory
from neuron_emitter.owners.assignments import RuntimeOwner
from neuron_wire.holders import MAX_HOLDER_NAME_CHARS
from neuron_wire.owners import TEAM_OWNER

if TYPE_CHECKING:
    from neuron_emitter.reports.groups import Memory, Number, Runtime, Runtimes, Text, Uses, Whole

RuntimeKey = tuple[int | None, str | None]
"""Pid and tag. Tags repeat (an unset tag is "1" in every container), and pids repeat over time."""

MAX_RUNTIMES_OF_REPORT: Final = 512
"""Runtimes listed separately in one minute; an instance today has at most 128 cores."""

_PROCESS_GONE: Final = re.compile(
    r"no such (process|file)|process (has )?(exited|finished)|defunct", IGNORECASE
)


UNOWNED: Final = RuntimeOwner()


def team_name(team: Text) -> Text:
    """Return the name that replaces an owner: `team:ml`; None without a *team*."""
    return f"{TEAM_OWNER}{team}" if team else None


def runtime_key(runtime: Runtime) -> RuntimeKey:
    """Return the identity of a runtime: its pid, and as much of its tag as a line can hold."""
    tag = runtime.neuron_runtime_tag
    return runtime.pid, tag[:MAX_HOLDER_NAME_CHARS] if tag else tag


def is_gone(runtime: Runtime) -> bool:
    """Return True if the process of the entry has ended; an error of a group does not show this."""
    if not runtime.error or not _PROCESS_GONE.search(runtime.error):
        return False
    report = runtime.report
    return report is None or report.neuroncore_counters is None


class RuntimeFold:
    """
    One runtime in the open minute.

    Attributes:
        key: Its pid and tag; None for all runtimes after the first `MAX_RUNTIMES_OF_REPORT`.

        executions: Its tallies and latencies.

        used: The cores that it reported above 0.

        listed: The cores that it listed last, whatever their values; None before it had the group.

        has_failed: True if a report has an error of the runtime as a whole.

        flops_s: Seconds of the samples with its FLOP/s.

        weighted_flops: FLOP/s of all its cores in these samples, each times its seconds.
    """

    def __init__(self, key: RuntimeKey | None) -> None:
        self.key = key
        self.executions = ExecutionFold()
        self.used: set[int] = set()
        self.listed: Uses | None = None
        self.has_failed = False
        self.flops_s = self.weighted_flops = 0.0
        self._vcpu_s = self._weighted_user = self._weighted_system = 0.0

    def fold_runtime(self, runtime: Runtime) -> None:
        """Fold all groups of one report except the cores, which are merged over the runtimes."""
        if runtime.error:
            self.has_failed = True
        report = runtime.report
        if report is None:
            return
        if report.execution_stats is not None:
            self.executions.add_stats(report.execution_stats)
        vcpu = report.neuron_runtime_vcpu_usage
        if vcpu is None or vcpu.error or vcpu.vcpu_usage is None:
            return
        period_s = vcpu.period
        user = vcpu.vcpu_usage.user
        system = vcpu.vcpu_usage.system
        if (
            period_s is not None
            and SHORTEST_PERIOD_S <= period_s <= MAX_PERIOD_S
            and user is not None
            and 0 <= user < MAX_VCPU_PERCENT
            and system is not None
            and 0 <= system < MAX_VCPU_PERCENT
        ):
            self._vcpu_s += period_s
            self._weighted_user += period_s * user
            self._weighted_system += period_s * system

    def tera_flops(self) -> Number:
        """Return the achieved 10^12 FLOP/s, or None if no report had any."""
        return self.weighted_flops / self.flops_s / 1e12 if self.flops_s else None

    def vcpu_percent(self) -> tuple[Number, Number]:
        """Return the percent of a vCPU that it spent in its own code and in the kernel."""
        if not self._vcpu_s:
            return None, None
        return self._weighted_user / self._vcpu_s, self._weighted_system / self._vcpu_s


class MinuteRuntimes:
    """
    Runtimes by pid and tag.

    Attributes:
        gone: Entries omitted because their process had ended.

        held: The evidence for the cores that each runtime holds.

        had_none: True if a report of the open minute had an empty list of runtimes.
    """

    def __init__(self) -> None:
        self.gone = 0
        self.held = AllocatedCores()
        self.had_none = False
        self._folds: dict[RuntimeKey | None, RuntimeFold] = {}
        self._had_executions = False  # in an earlier minute

    @property
    def folds(self) -> list[RuntimeFold]:
        """Return a fold for each of `MAX_RUNTIMES_OF_REPORT` runtimes, and one for all others."""
        return list(self._folds.values())

    def fold_runtimes(
        self, runtimes: Runtimes
    ) -> tuple[Runtimes, list[tuple[Runtime, RuntimeFold]]]:
        """Fold the runtimes of a report. Return those with a process, and each with its fold."""
        entries = []
        for runtime in runtimes:
            if runtime.error and is_gone(runtime):
                self.gone += 1
                continue
            key: RuntimeKey | None = runtime_key(runtime)
            fold = self._folds.get(key)
            if fold is None:
                if len(self._folds) >= MAX_RUNTIMES_OF_REPORT:
                    # One fold for the rest: if processes start in a loop, the totals stay right.
                    key = None
                fold = self._folds.setdefault(key, RuntimeFold(key))
            fold.fold_runtime(runtime)
            entries.append((runtime, fold))
        if len(entries) < len(runtimes):
            runtimes = [runtime for runtime, _ in entries]
        if runtimes:
            self.held.fold_runtimes(runtimes)
        return runtimes, entries

    def fold_no_runtime(self) -> None:
        """Note that a report has an empty list of runtimes."""
        self.had_none = True
        self.held.fold_no_runtime()

    def executions(self, *, were_asked: bool) -> ExecutionFold:
        """
        Return the executions of all runtimes together.

        In a minute without runtimes nothing was executed. This is known if executions *were_asked*
        for or were ever reported; otherwise the group is not collected.
        """
        if self.had_none and not self._folds and (were_asked or self._have_executions()):
            return ExecutionFold.without_runtime()
        return ExecutionFold.merged(fold.executions for fold in self._folds.values())

    def report_executions(self, living: Runtimes | None, *, were_asked: bool) -> ExecutionFold:
        """
        Return the executions of one report, whose runtimes are *living*.

        *living* is None if the report has no list of runtimes.
        """
        if living == [] and (were_asked or self._have_executions()):
            return ExecutionFold.without_runtime()
        executions = ExecutionFold()
        for runtime in living or ():
            if runtime.report is not None and runtime.report.execution_stats is not None:
                executions.add_stats(runtime.report.execution_stats)
        return executions

    def held_by_runtime(self, cores_per_device: Whole) -> dict[RuntimeKey, set[int]]:
        """Return the cores that each runtime holds: by its memory, or by use in this minute."""
        held = self.held.held_by_runtime(cores_per_device)
        for fold in self._folds.values():
            if fold.used:
                held.setdefault(fold.key or (None, None), set()).update(fold.used)
        return held

    def end_minute(self) -> None:
        """Start a new minute."""
        self._had_executions = self._have_executions()
        self._folds = {}
        self.had_none = False
        self.held.end_minute()

    def _have_executions(self) -> bool:
        """Return True if a report ever had executions."""
        return self._had_executions or any(
            fold.executions.ended is not None for fold in self._folds.values()
        )


class AllocatedCores:
    """
    The evidence in the open minute for the cores that each runtime holds.

    Attributes:
        with_memory: Runtimes of the last report in which a memory group was usable; empty after a
            report without runtimes, None before both.
    """

    def __init__(self) -> None:
        self._places = 0  # impossible places of earlier minutes
        self._open_places = 0  # impossible places of the open minute, at the last count
        self.end_minute()

    def end_minute(self) -> None:
        """Start a new minute."""
        self._places += self._open_places
        self._open_places = 0
        self.with_memory: Runtimes | None = None
        # By runtime: two containers can show the same pid and tag.
        self._groups: dict[RuntimeKey, list[Memory]] = {}
        self._listings: dict[RuntimeKey, list[Uses]] = {}
        # in the report of `with_memory`, or in the last report
        self._living: dict[RuntimeKey, None] = {}
        # The newest report, if all its runtimes have memory. It is not in the three values above
        # yet.
        self._unread: Runtimes = []

    def fold_runtimes(self, runtimes: Runtimes) -> None:
        """Fold the runtimes of one report."""
        for runtime in runtimes:
            report = runtime.report
            memory = None if report is None else report.memory_used
            if memory is None or memory.error:
                self._read_newest()
                self._read(runtimes)
                return
        # Nearly every report replaces the memory groups of earlier reports.
        self.with_memory = self._unread = runtimes

    def _read_newest(self) -> None:
        if self._unread:
            self._read(self._unread)
            self._unread = []

    def _read(self, runtimes: Runtimes) -> None:
        groups: dict[RuntimeKey, list[Memory]] = {}
        listings: dict[RuntimeKey, list[Uses]] = {}
        living: dict[RuntimeKey, None] = {}
        for runtime in runtimes:
            living[key := runtime_key(runtime)] = None
            if (memory := usable_memory(runtime)) is not None:
                groups.setdefault(key, []).append(memory)
            if (uses := _listed(runtime)) is not None:
                listings.setdefault(key, []).append(uses)
        self._listings |= listings
        if not groups:
            earlier_keys = map(runtime_key, self.with_memory or ())
            self._living = dict.fromkeys(earlier_keys) | living
            return
        # The group was due: runtimes that are not in this report are gone.
        earlier = {key: group for key, group in self._groups.items() if key in living}
        self._groups = earlier | groups
        self._living = living
        # Cores that a runtime listed before it was gone are not evidence when it is back.
        self._listings = {key: uses for key, uses in self._listings.items() if key in living}
        self.with_memory = runtimes

    def fold_no_runtime(self) -> None:
        """Note that a report has an empty list of runtimes."""
        self.end_minute()
        self.with_memory = []

    def memory(self) -> dict[RuntimeKey, Memory]:
        """Return the last usable memory group of each runtime that still counts."""
        self._read_newest()
        return {key: groups[-1] for key, groups in self._groups.items()}

    def malformed_places(self, cores_per_device: Whole) -> int:
        """Return the number of dropped places that no core can have, including the open minute."""
        if self.with_memory:
            self.held_by_runtime(cores_per_device)
        return self._places + self._open_places

    def held_by_runtime(self, cores_per_device: Whole) -> dict[RuntimeKey, set[int]]:
        """Return the cores that each runtime holds, by index from 0."""
        self._read_newest()
        held: dict[RuntimeKey, set[int]] = {}
        self._open_places = 0
        for key in self._living:
            held[key] = set()
            is_usable = key in self._groups
            for memory in self._groups.get(key, ()):
                cores, malformed = held_by_memory(memory, cores_per_device)
                self._open_places += malformed
                if cores is None:
                    is_usable = False
                else:
                    held[key] |= cores
            if not is_usable:
                held[key] |= core_indexes(chain.from_iterable(self._listings.get(key, ())))
        return held


def _listed(runtime: Runtime) -> Uses | None:
    """Return the cores that the runtime lists; None if its group is in error and lists none."""
    counters = None if runtime.report is None else runtime.report.neuroncore_counters
    if counters is None or (counters.error and not counters.neuroncores_in_use):
        return None
    return counters.neuroncores_in_use
