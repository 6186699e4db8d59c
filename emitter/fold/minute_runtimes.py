"""
The runtimes of the open minute: what each did, which cores it holds, whose it is.

Reports are taken in as they come; what is held, and by whom, is worked out when
the minute closes.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.fold.executions import ExecutionFold
from emitter.fold.held_cores import HeldCores
from emitter.fold.runtime_fold import RuntimeFolds
from emitter.fold.runtime_history import RuntimeHistories
from emitter.fold.runtime_owner import NOBODY, CorePods
from emitter.fold.runtimes import RuntimeLines, RuntimeMinute
from neuron_wire.owners import Holding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from emitter.fold.runtime_fold import RuntimeFold
    from emitter.fold.runtime_owner import RuntimeKey, RuntimeOwner
    from emitter.reports.groups import Runtime


_GONE: Final = re.compile(
    r"no such (process|file)|process (has )?(exited|finished)|defunct", re.IGNORECASE
)


def is_gone(runtime: Runtime) -> bool:
    """
    Whether the entry is what is left of a process that ended.

    A group's own "no such file" error is not enough: in a sidecar with its own
    process namespace it stands in every report of a living runtime.
    """
    if not runtime.error or not _GONE.search(runtime.error):
        return False
    report = runtime.report
    return report is None or report.neuroncore_counters is None


class MinuteRuntimes:
    """
    Runtimes by pid and tag.

    Attributes:
        gone: Entries left out because their process had ended.

        folds: What each did in the open minute.

        held_cores: What says which cores each holds.

        pods: Whose a core is, as Kubernetes says.

        histories: What is remembered of the minutes before.
    """

    def __init__(self, lines: str, owner_of: Callable[[int], RuntimeOwner | None]) -> None:
        self.gone = 0
        self.folds = RuntimeFolds()
        self.held_cores = HeldCores()
        self.pods = CorePods()
        self.histories = RuntimeHistories()
        self._owner_of = owner_of
        self._lines = RuntimeLines(lines)
        self._executions_told = False  # in a minute before
        self._is_nobody = False  # in a report of the open minute

    def configure(self, lines: str) -> None:
        """Make lines due by another policy."""
        self._lines.mode = lines

    def living(self, runtimes: list[Runtime]) -> list[Runtime]:
        """*runtimes* without those whose process has ended."""
        for runtime in runtimes:
            if runtime.error:
                living = [one for one in runtimes if not is_gone(one)]
                self.gone += len(runtimes) - len(living)
                return living
        return runtimes

    def add(self, runtimes: list[Runtime]) -> list[RuntimeFold]:
        """Take the runtimes of a report; return the fold of each, for what its cores say."""
        self.held_cores.add(runtimes)
        return self.folds.add(runtimes)

    def nobody(self) -> None:
        """A report said that there is no runtime."""
        self._is_nobody = True
        self.held_cores.nobody()

    def tells_executions(self) -> bool:
        """Whether a report ever told executions."""
        return self._executions_told or any(
            fold.executions.ended is not None for fold in self.folds
        )

    def executions(self, *, were_asked: bool) -> ExecutionFold:
        """
        What all did together.

        Where the minute had no runtime nothing was executed, which is known if
        executions *were_asked* for or once told: else the group is not collected.
        """
        is_empty = self._is_nobody and not any(True for _ in self.folds)
        if is_empty and (were_asked or self.tells_executions()):
            return ExecutionFold.of_nobody()
        return self.folds.executions()

    def held(self, cores_per_device: int | None) -> dict[RuntimeKey, set[int]]:
        """Cores by the runtime that holds them: evidence of its memory, or use in this minute."""
        held = self.held_cores.cores(cores_per_device)
        for fold in self.folds:
            if fold.used:
                held.setdefault(fold.key or (None, None), set()).update(fold.used)
        return held

    def owners(
        self, held: Mapping[RuntimeKey, set[int]], pods: Mapping[int, RuntimeOwner] | None
    ) -> dict[RuntimeKey, RuntimeOwner]:
        """
        The owner of each: whose its process is, else to whom its cores are given.

        *pods* says that by core, None where nobody tells it.
        """
        owners: dict[RuntimeKey, RuntimeOwner] = {}
        for key in (*held, *(fold.key for fold in self.folds if fold.key is not None)):
            if key not in owners:
                owners[key] = self._owner(key, sorted(held.get(key, ())), pods)
        return owners

    def _owner(
        self, key: RuntimeKey, cores: Sequence[int], pods: Mapping[int, RuntimeOwner] | None
    ) -> RuntimeOwner:
        pid, _ = key
        owner = None if pid is None else self._owner_of(pid)
        if owner is not None and (owner.gone or owner.is_sure):
            return owner  # its cores may be given to another by now, or by another id
        return self.pods.owner(key, cores, pods) or owner or NOBODY

    def holdings(
        self, held: Mapping[RuntimeKey, set[int]], owners: Mapping[RuntimeKey, RuntimeOwner]
    ) -> Iterator[Holding]:
        """What each runtime holds, and what it executed, as far as its reports told it."""
        folds = {fold.key or (None, None): fold for fold in self.folds}
        for key, cores in held.items():
            owner, fold = owners[key], folds.get(key)
            done = None if fold is None else fold.executions.done
            yield Holding(owner.name, cores, owner.team, executions=done)

    def executed(
        self, label: int, owners: Mapping[RuntimeKey, RuntimeOwner]
    ) -> dict[RuntimeKey, int]:
        """When each last ended an execution, the epoch minute *label*, which closes, included."""
        self.histories.close(label, self.folds, owners, is_nobody=self._is_nobody)
        return self.histories.executed(label)

    def due(
        self,
        label: int,
        held: Mapping[RuntimeKey, set[int]],
        owners: Mapping[RuntimeKey, RuntimeOwner],
    ) -> tuple[RuntimeMinute, ...]:
        """The runtimes of the epoch minute *label* that a line is due for."""
        folds = {fold.key: fold for fold in self.folds if fold.key is not None}
        reasons = self._lines.due(
            label,
            (
                (
                    key,
                    tuple(sorted(held.get(key, ()))),
                    owners.get(key, NOBODY).name,
                    bool(fold.executions.failed) or fold.has_failed,
                )
                for key, fold in folds.items()
            ),
        )
        if not reasons:
            return ()
        memory = self.held_cores.memory()
        return tuple(
            RuntimeMinute.of(
                folds[key],
                held.get(key, set()),
                memory.get(key),
                owners.get(key, NOBODY).name,
                reason,
            )
            for key, reason in reasons.items()
        )

    def end_minute(self) -> None:
        """A minute ends, another begins."""
        self._executions_told = self.tells_executions()
        self.folds = RuntimeFolds()
        self._is_nobody = False
        self.held_cores.clear()
        self.pods.end_minute()
