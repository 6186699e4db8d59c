"""
What is remembered of each runtime: when it last ended an execution, and whether it stalls.

Counted by minute label and kept over restarts, as idle minutes are. Only a minute in
which it is known that no execution ended adds to a stall, and any that ended ends it.
Which stall is a hung execution the stack decides.

What has a pid and a tag afterwards may be another process. So a runtime is forgotten
after a minute whose reports do not list it, after ten minutes in which none listed
any, and when its owner is another.
"""

from __future__ import annotations

from itertools import zip_longest
from typing import TYPE_CHECKING, Annotated, Final

import msgspec

from emitter.fold.idle import FORGOTTEN_AFTER_MINUTES
from emitter.fold.runtime_fold import MAX_RUNTIMES
from emitter.fold.runtime_owner import NOBODY
from neuron_wire.holders import MAX_NAME_CHARS, core_ranges, printable
from neuron_wire.phrases import iso_minute
from neuron_wire.stalls import BUSY, COLLECTIVES, MAX_STALLS, TIMEOUTS, Stall

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from collections.abc import Set as AbstractSet

    from emitter.fold.held_cores import RuntimeKey
    from emitter.fold.runtime_fold import RuntimeFold
    from emitter.fold.runtime_owner import RuntimeOwner

WORKING_MINUTES: Final = 30
"""Minutes in a row with executions after which cores at work without any are suspect."""

FULL_PERCENT: Final = 90.0
"""Utilization from which a core is at work all the time."""

_TIMED_OUT: Final = "ExecutionsTimedOut"
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
_Text = Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]


class RuntimeHistory(msgspec.Struct, omit_defaults=True):
    """
    One runtime.

    Attributes:
        pid: Process id as neuron-monitor sees it.

        tag: Its `neuron_runtime_tag`.

        owner: Whose it was, as far as anybody said.

        executed: The last epoch minute in which it ended an execution, None before the first.

        worked: Minutes in a row in which it ended any, at most `WORKING_MINUTES`.

        busy: Minutes since, with a core at `FULL_PERCENT` or more.

        timed_out: Minutes since the first one in which executions timed out and none ended.

        hanging: Minutes since the kernel logged that its device hangs on a collective.

        device: The device that the kernel named.
    """

    pid: int | None = None
    tag: _Text | None = None
    owner: _Text | None = None
    executed: _Count | None = None
    worked: _Count = 0
    busy: _Count = 0
    timed_out: _Count | None = None
    hanging: _Count | None = None
    device: int | None = None

    def add(self, fold: RuntimeFold, label: int, *, is_later: bool) -> bool:
        """Take what it did in the minute *label*; whether it is known if any execution ended."""
        if fold.executions.ended:
            self.executed = label
            self.busy, self.timed_out, self.hanging = 0, None, None
            self.worked = min(WORKING_MINUTES, self.worked + is_later)
            return True
        if not is_later or not fold.executions.is_quiet():
            return False
        if self.timed_out is not None:
            self.timed_out += 1
        elif _TIMED_OUT in fold.executions.details:
            self.timed_out = 0
        if self.hanging is not None:
            self.hanging += 1
        load_percent = fold.load_percent()
        if self.worked < WORKING_MINUTES or (
            load_percent is not None and load_percent < FULL_PERCENT
        ):
            self.worked = self.busy = 0
        elif load_percent is not None:
            self.busy += 1
        return True

    def hang(self, device: int | None, *, is_quiet: bool) -> None:
        """The kernel said so in this minute, in which for sure no execution ended if *is_quiet*."""
        if self.hanging is None:
            self.hanging, self.device = int(is_quiet), device


class RuntimeHistories(msgspec.Struct, omit_defaults=True):
    """
    Those of the runtimes that the last reports listed.

    Attributes:
        label: Epoch minute that was counted last, or None.

        watched: Last epoch minute in which reports listed any runtime, or None.

        runtimes: One each.
    """

    label: _Count | None = None
    watched: _Count | None = None
    runtimes: Annotated[list[RuntimeHistory], msgspec.Meta(max_length=MAX_RUNTIMES)] = []

    def close(
        self,
        label: int,
        folds: Iterable[RuntimeFold],
        owners: Mapping[RuntimeKey, RuntimeOwner],
        *,
        is_nobody: bool,
    ) -> None:
        """Count the epoch minute *label*; where no report says anything, it changes nothing."""
        if self.watched is not None and abs(label - self.watched) > FORGOTTEN_AFTER_MINUTES:
            self.label = self.watched = None
            self.runtimes = []
        before = {(one.pid, one.tag): one for one in self.runtimes}
        is_later = self.label is None or label > self.label
        is_counted = False
        runtimes: list[RuntimeHistory] = []
        freed: set[int | None] = set()
        for fold in folds:
            if fold.key is None or len(fold.key[1] or "") > MAX_NAME_CHARS:
                continue
            name = printable(owners.get(fold.key, NOBODY).name)
            history = before.get(fold.key)
            if history is None or None is not name != history.owner is not None:
                history = RuntimeHistory(*fold.key)
            history.owner = name or history.owner
            hung = history.hanging is not None
            is_counted |= history.add(fold, label, is_later=is_later)
            if hung and history.hanging is None:
                freed.add(history.device)
            runtimes.append(history)
        if not runtimes and not is_nobody:
            return
        for history in runtimes:
            if history.device in freed:  # one of its device goes on
                history.hanging = None
        self.runtimes = runtimes
        self.watched = label if self.watched is None else max(self.watched, label)
        if is_counted and is_later:
            self.label = label

    def hang(
        self,
        device: int | None,
        folds: Mapping[RuntimeKey, RuntimeFold],
        held: Mapping[RuntimeKey, AbstractSet[int]],
        cores_per_device: int | None,
    ) -> None:
        """
        The kernel logged in the minute closed last that *device* hangs on a collective.

        Of a device that it does not name, or whose cores nobody knows, all runtimes are
        meant. Where one of them ended executions in that minute the next one tells
        whether that was before.
        """
        place = None if cores_per_device is None else device
        meant = [
            one
            for one in self.runtimes
            if any(
                place is None or core // (cores_per_device or 1) == place
                for core in held.get((one.pid, one.tag), ())
            )
        ]
        is_quiet = all(folds[one.pid, one.tag].executions.is_quiet() for one in meant)
        for one in meant:
            one.hang(place, is_quiet=is_quiet)

    def executed(self, label: int) -> dict[RuntimeKey, int]:
        """The last epoch minute, up to *label*, in which each ended an execution."""
        return {
            (one.pid, one.tag): one.executed
            for one in self.runtimes
            if one.executed is not None and one.executed <= label
        }

    def stalls(
        self, held: Mapping[RuntimeKey, AbstractSet[int]], owners: Mapping[RuntimeKey, RuntimeOwner]
    ) -> tuple[Stall, ...]:
        """Those that stall: of each cause the longest first, so that none hides another cause."""
        by_cause = (
            _longest(COLLECTIVES, ((one, one.hanging) for one in self.runtimes)),
            _longest(TIMEOUTS, ((one, one.timed_out) for one in self.runtimes)),
            _longest(BUSY, ((one, one.busy) for one in self.runtimes)),
        )
        if not any(by_cause):
            return ()
        ranked = [one for row in zip_longest(*by_cause) for one in row if one is not None]
        stalls = []
        for cause, history, minutes in ranked:
            key = history.pid, history.tag
            if not (cores := held.get(key)):
                continue  # who holds none hangs on none
            owner, executed = owners.get(key, NOBODY), history.executed
            stalls.append(
                Stall(
                    cores=core_ranges(cores),
                    name=owner.name,
                    pid=history.pid,
                    tag=history.tag,
                    team=owner.team,
                    last_execution=None if executed is None else iso_minute(executed),
                    gone=owner.gone,
                    cause=cause,
                    minutes=minutes,
                )
            )
        return tuple(stalls[:MAX_STALLS])


def _longest(
    cause: str, counted: Iterable[tuple[RuntimeHistory, int | None]]
) -> list[tuple[str, RuntimeHistory, int]]:
    stalled = [(cause, one, minutes) for one, minutes in counted if minutes]
    return sorted(stalled, key=lambda stall: -stall[2])
