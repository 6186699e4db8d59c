"""
The state of the fold that must survive a restart.

If the state cannot be read, the fold starts empty. Members that this version does not know are
dropped.
"""

from __future__ import annotations

from contextlib import suppress
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct, field, json, structs

from neuron_emitter.fold.inventory import Count, KnownInstance
from neuron_emitter.fold.runtimes import MAX_RUNTIMES_OF_REPORT, UNOWNED
from neuron_emitter.kernel.detector import LogState
from neuron_wire.holders import MAX_HOLDER_NAME_CHARS, printable_name
from neuron_wire.names import BUSY_STATE, MAX_CORES, UNKNOWN_STATE, WHOLE_MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from neuron_emitter.fold.runtimes import RuntimeFold, RuntimeKey
    from neuron_emitter.owners.assignments import RuntimeOwner
    from neuron_emitter.reports.groups import Whole
    from neuron_wire.owners import OwnerHolding


MAX_OWNER_NAMES = 2_048
"""Owners that are remembered: a runtime and a reservation for each possible core."""
MAX_STATE_AGE_MINUTES: Final = 10


def _is_forgotten(watched: Whole, epoch_minute: int) -> bool:
    """Return True if the state *watched* in one epoch minute is too old to count in another."""
    return watched is not None and abs(epoch_minute - watched) > MAX_STATE_AGE_MINUTES


_Name = Annotated[str, Meta(max_length=MAX_HOLDER_NAME_CHARS)]


class RuntimeHistory(Struct, omit_defaults=True):
    """
    The history of one runtime.

    Attributes:
        pid: Process id as neuron-monitor sees it.

        tag: Its `neuron_runtime_tag`, as much as a line can hold.

        owner: Its last known owner.

        executed: The last epoch minute in which it ended an execution, None before the first.
    """

    pid: int | None = None
    tag: _Name | None = None
    owner: _Name | None = None
    executed: Count | None = None


class RuntimeHistories(Struct, omit_defaults=True):
    """
    The histories of the runtimes that the last reports listed.

    Attributes:
        watched: Last epoch minute in which reports listed any runtime, or None.

        runtimes: One history for each runtime.
    """

    watched: Count | None = None
    runtimes: Annotated[list[RuntimeHistory], Meta(max_length=MAX_RUNTIMES_OF_REPORT)] = []

    def record_minute(
        self,
        epoch_minute: int,
        folds: Iterable[RuntimeFold],
        owners: Mapping[RuntimeKey, RuntimeOwner],
        *,
        is_empty: bool,
    ) -> None:
        """
        Record the executions of *epoch_minute*.

        A minute without runtimes changes nothing unless a report confirms that the list *is_empty*.
        """
        if _is_forgotten(self.watched, epoch_minute):
            self.watched = None
            self.runtimes = []
        before = {(history.pid, history.tag): history for history in self.runtimes}
        runtimes = []
        for fold in folds:
            if fold.key is None:
                continue
            name = printable_name(owners.get(fold.key, UNOWNED).name)
            history = before.get(fold.key)
            if history is None or None is not name != history.owner is not None:
                history = RuntimeHistory(*fold.key)
            history.owner = name or history.owner
            if fold.executions.ended:
                history.executed = epoch_minute
            runtimes.append(history)
        if runtimes or is_empty:
            self.runtimes = runtimes
            self.watched = max(self.watched or epoch_minute, epoch_minute)

    def last_executed(self, epoch_minute: int) -> dict[RuntimeKey, int]:
        """Return the last minute, up to *epoch_minute*, in which each runtime executed."""
        return {
            (history.pid, history.tag): history.executed
            for history in self.runtimes
            if history.executed is not None and history.executed <= epoch_minute
        }


class FoldState(KnownInstance):
    """
    The state with which the next start continues.

    It has the identity, idle and quiet minutes, runtimes, the last ECC values and the position in
    the kernel log.

    Attributes:
        idle_counted_minute: Epoch minute that last added or reset a count, or None.

        idle_minutes: Idle minutes by core index.

        idle_watched: Last epoch minute in which any core was known, or None.

        quiet_counted_minute: Epoch minute that last changed a count, or None.

        quiet_minutes: Consecutive whole minutes with read executions and without an execution, by
            owner.

        only_reserved: Owners that had only reservations when their cores were last known.

        lists_no_device: True if the last hardware counters list no device.
    """

    idle_counted_minute: Count | None = None
    idle_minutes: Annotated[list[Count], Meta(max_length=MAX_CORES)] = []  # noqa: RUF012 - msgspec copies it
    idle_watched: Count | None = None
    quiet_counted_minute: Count | None = None
    quiet_minutes: Annotated[dict[str, Count], Meta(max_length=MAX_OWNER_NAMES)] = {}  # noqa: RUF012 - msgspec copies it
    only_reserved: Annotated[list[str], Meta(max_length=MAX_OWNER_NAMES)] = []  # noqa: RUF012 - msgspec copies it
    lists_no_device: bool = False
    ecc: dict[str, Count] = {}  # noqa: RUF012 - msgspec copies it
    histories: RuntimeHistories = field(default_factory=RuntimeHistories)
    kernel: LogState = LogState()

    def count_idle_minutes(
        self, epoch_minute: int, states: str, covered_s: Sequence[float]
    ) -> tuple[int, ...]:
        """
        Count *epoch_minute* from each core's state and covered seconds.

        A busy core starts again at 0. A whole minute without use adds one. A partial or unknown
        minute neither adds nor resets.

        Returns:
            Idle minutes by core, this minute included.
        """
        # Also if the stored minute is far in the future: the clock was wrong then.
        if _is_forgotten(self.idle_watched, epoch_minute):
            self.idle_minutes = []
            self.idle_counted_minute = self.idle_watched = None
        is_later = self.idle_counted_minute is None or epoch_minute > self.idle_counted_minute
        counts = self.idle_minutes + [0] * (len(states) - len(self.idle_minutes))
        for core, state in enumerate(states):
            if state == BUSY_STATE:
                counts[core] = 0
            elif state != UNKNOWN_STATE and is_later and covered_s[core] >= WHOLE_MINUTE_S:
                counts[core] += 1
            else:
                continue
            self.idle_counted_minute = max(self.idle_counted_minute or epoch_minute, epoch_minute)
        self.idle_minutes = counts[: len(states)] if states else counts
        if any(state != UNKNOWN_STATE for state in states):
            self.idle_watched = max(self.idle_watched or epoch_minute, epoch_minute)
        return tuple(self.idle_minutes[: len(states)])

    def count_quiet_minutes(
        self,
        epoch_minute: int,
        owners: Mapping[str, OwnerHolding],
        *,
        is_whole: bool,
        has_unknown: bool,
    ) -> None:
        """
        Count *epoch_minute* for each of *owners* that has a count.

        An owner starts again if it executed, or if its executions were not read in this minute or
        since the last count. An owner that had only reservations needs no reading: it keeps its
        count while unknown cores hide them. A partial minute neither adds nor resets.
        """
        if _is_forgotten(self.quiet_counted_minute, epoch_minute):
            self.quiet_counted_minute = None
        if self.quiet_counted_minute is None or epoch_minute > self.quiet_counted_minute + 1:
            self.quiet_minutes = {}
            self.only_reserved = []
        is_later = self.quiet_counted_minute is None or epoch_minute > self.quiet_counted_minute
        minutes = {}
        if has_unknown:
            minutes = {name: self.quiet_minutes.get(name, 0) for name in self.only_reserved}
        for name, owner in owners.items():
            count = self.quiet_minutes.get(name, 0)
            is_read = owner.executions is not None or not owner.cores
            if owner.executions or not is_read:
                count = 0
            elif is_whole and is_later:
                count += 1
            minutes[name] = count
            owner.quiet_minutes = count or None
        self.quiet_minutes = dict(list(minutes.items())[:MAX_OWNER_NAMES])
        self.only_reserved = [
            name for name in self.quiet_minutes if name not in owners or not owners[name].cores
        ]
        self.quiet_counted_minute = max(self.quiet_counted_minute or epoch_minute, epoch_minute)

    def encoded(self) -> bytes:
        """Return the state as bytes for the next start."""
        return json.encode(self)


def read_state(encoded: bytes | None) -> FoldState:
    """Return the state of an earlier run, or an empty state if it cannot be read."""
    with suppress(ValueError, RecursionError):
        return json.decode(encoded or b"", type=FoldState)
    return FoldState()


def with_kernel(state: bytes | None, kernel: LogState) -> bytes:
    """Return the encoded *state* of a run with *kernel* in it."""
    return structs.replace(read_state(state), kernel=kernel).encoded()
