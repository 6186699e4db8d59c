"""
The runtimes of the open minute: what each did, which cores it holds, whose it is.

Reports are taken in as they come; what is held, and by whom, is worked out when
the minute closes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final

from emitter.fold.held_cores import HeldCores
from emitter.fold.inventory import CORE_INDEX
from emitter.fold.runtime import NOBODY, ExecutionFold, RuntimeFolds, RuntimeKey, RuntimeOwner
from emitter.fold.runtime_lines import RuntimeLines, RuntimeMinute
from emitter.fold.state import RuntimeHistories
from emitter.owners.given import Allocation
from neuron_wire.holders import MAX_NAME_CHARS
from neuron_wire.owners import Holding

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from emitter.fold.runtime import RuntimeFold
    from emitter.reports.groups import KubernetesInfo, Pod, Runtime

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


ALLOCATED_MINUTES: Final = 2
"""For which the last word on a core counts, the minute it was said in included."""

NAMED_MINUTES: Final = 10
"""Without any word, for which a runtime keeps its pod: whose processes are new, nobody says."""


class CorePods:
    """Pods by core and by device as reports last told, and of runtimes while nothing is told."""

    def __init__(self) -> None:
        self._info: KubernetesInfo | None = None
        self._untold_minutes = 0
        self._named: dict[RuntimeKey, RuntimeOwner | None] = {}  # in the open minute
        self._named_before: dict[RuntimeKey, RuntimeOwner | None] = {}

    def add(self, info: KubernetesInfo | None) -> None:
        """Take the group of one report."""
        if info is None or info.error:
            return
        if info.neuroncores_k8s_info is not None or info.neurondevices_k8s_info is not None:
            self._info = info
            self._untold_minutes = 0

    def end_minute(self) -> None:
        """A minute ends: what was told long ago no longer counts."""
        if self._named:
            self._named, self._named_before = {}, self._named
        self._untold_minutes += 1
        if self._untold_minutes >= ALLOCATED_MINUTES:
            self._info = None
        if self._untold_minutes > NAMED_MINUTES:
            self._named_before = {}

    def allocations(self) -> tuple[Allocation, ...] | None:
        """What reports say that pods were given; None where they do not tell it."""
        if self._info is None:
            return None
        cores: dict[RuntimeOwner, set[int]] = {}
        devices: dict[RuntimeOwner, set[int]] = {}
        for told, found in (
            (self._info.neuroncores_k8s_info, cores), (self._info.neurondevices_k8s_info, devices),
        ):  # fmt: skip
            for text, pod in (told or {}).items():
                owner = _owner(pod)
                if owner is not None and text in CORE_INDEX:
                    found.setdefault(owner, set()).add(CORE_INDEX[text])
        return tuple(
            Allocation(
                owner.name or "", owner.team, frozenset(cores.get(owner, ())),
                frozenset(devices.get(owner, ())),
            )
            for owner in dict.fromkeys((*cores, *devices))
        )  # fmt: skip

    def owner(
        self,
        runtime: RuntimeKey,
        cores: Iterable[int],
        pods: Mapping[int, RuntimeOwner] | None,
    ) -> RuntimeOwner | None:
        """
        Of *pods*, to whom each core is given, that of most of *cores*, of the first on a tie.

        While nobody tells that, the pod of *runtime* in the minute before.
        """
        if pods is None:
            owner = self._named_before.get(runtime)
        else:
            counts = Counter(pods[core] for core in cores if core in pods)
            owner = counts.most_common(1)[0][0] if counts else None
        self._named[runtime] = owner
        return owner


def _owner(pod: Pod | None) -> RuntimeOwner | None:
    if pod is None or not pod.pod_name:
        return None
    name = f"{pod.namespace}/{pod.pod_name}" if pod.namespace else pod.pod_name
    containers = pod.container_name or ()
    if pod.namespace and len(containers) == 1 and containers[0]:
        name = f"{name}/{containers[0]}"
    return RuntimeOwner(name[:MAX_NAME_CHARS], team=pod.namespace or None)
