"""
The runtimes of the open minute: what each did, which cores it holds, who owns them.

Reports are added as they come; holders and owners are worked out when the minute closes.
"""

from __future__ import annotations

import re
from collections import Counter
from typing import TYPE_CHECKING, Final, NamedTuple

from emitter.fold.held_cores import HeldCores, Holdings, idle_holders, owners_given, reserve_cores
from emitter.fold.inventory import CORE_INDEX
from emitter.fold.runtime import (
    MAX_RUNTIMES,
    UNOWNED,
    ExecutionFold,
    RuntimeFold,
    RuntimeOwner,
    runtime_key,
    team_name,
)
from emitter.fold.runtime_lines import RuntimeLines, RuntimeMinute
from emitter.fold.state import RuntimeHistories
from emitter.owners.given import Allocation
from neuron_wire.holders import MAX_NAME_CHARS
from neuron_wire.names import READ
from neuron_wire.owners import Holding, group_holdings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

    from emitter.fold.runtime import RuntimeKey
    from emitter.owners.given import Given
    from emitter.reports.groups import KubernetesInfo, Pod, Runtime
    from neuron_wire.holders import Holder
    from neuron_wire.owners import OwnerHolding

ALLOCATED_MINUTES: Final = 2
"""How long a report's allocation of a core counts, the minute of the report included."""

NAMED_MINUTES: Final = 10
"""How long a runtime keeps its pod while no report has allocations: its pid may be reused."""

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


class Attribution(NamedTuple):
    """
    Whose the cores of one minute are.

    Attributes:
        holdings: Which cores each runtime held, and its owner.

        holders: Those who hold attached-idle cores, as far as a line has room.

        holders_more: How many holders there are beyond these.

        by_owner: What each owner holds and has reserved.

        given: Whether it is known which cores the scheduler gave to whom.

        unverified: Cores given to pods that have no process and do not wait to start.
    """

    holdings: Holdings
    holders: tuple[Holder, ...]
    holders_more: int
    by_owner: dict[str, OwnerHolding]
    given: str | None
    unverified: int


class MinuteRuntimes:
    """
    Runtimes by pid and tag.

    Attributes:
        gone: Entries left out because their process had ended.

        held_cores: The evidence of which cores each holds.

        pods: To whom Kubernetes gave a core.

        histories: Executions of the minutes before.
    """

    def __init__(self, lines: str, owner_of: Callable[[int], RuntimeOwner | None]) -> None:
        self.gone = 0
        self.held_cores = HeldCores()
        self.pods = CorePods()
        self.histories = RuntimeHistories()
        self._folds: dict[RuntimeKey | None, RuntimeFold] = {}
        self._owner_of = owner_of
        self._lines = RuntimeLines(lines)
        self._had_executions = False  # in a minute before
        self._had_no_runtime = False  # in a report of the open minute

    def configure(self, lines: str) -> None:
        """Make lines due by another policy."""
        self._lines.mode = lines

    def drop_gone(self, runtimes: list[Runtime]) -> list[Runtime]:
        """*runtimes* without those whose process has ended."""
        for runtime in runtimes:
            if runtime.error:
                living = [entry for entry in runtimes if not is_gone(entry)]
                self.gone += len(runtimes) - len(living)
                return living
        return runtimes

    def add_runtimes(self, runtimes: list[Runtime]) -> list[RuntimeFold]:
        """Add the runtimes of a report; return the fold of each, for what its cores say."""
        self.held_cores.add_runtimes(runtimes)
        folds = []
        for runtime in runtimes:
            key: RuntimeKey | None = runtime_key(runtime)
            fold = self._folds.get(key)
            if fold is None:
                if len(self._folds) >= MAX_RUNTIMES:
                    # One fold for the rest: with processes started in a loop the totals stay right.
                    key = None
                fold = self._folds.setdefault(key, RuntimeFold(key))
            fold.add_runtime(runtime)
            folds.append(fold)
        return folds

    def add_no_runtime(self) -> None:
        """Note that a report said that there is no runtime."""
        self._had_no_runtime = True
        self.held_cores.add_no_runtime()

    def has_executions(self) -> bool:
        """Whether a report ever had executions."""
        return self._had_executions or any(
            fold.executions.ended is not None for fold in self._folds.values()
        )

    def executions(self, *, were_asked: bool) -> ExecutionFold:
        """
        The executions of all runtimes together.

        Where the minute had no runtime nothing was executed, which is known if
        executions *were_asked* for or ever came: else the group is not collected.
        """
        is_empty = self._had_no_runtime and not self._folds
        if is_empty and (were_asked or self.has_executions()):
            return ExecutionFold.without_runtime()
        return ExecutionFold.merged(fold.executions for fold in self._folds.values())

    def held_by_runtime(self, cores_per_device: int | None) -> dict[RuntimeKey, set[int]]:
        """Cores by the runtime that holds them: evidence of its memory, or use in this minute."""
        held = self.held_cores.held_by_runtime(cores_per_device)
        for fold in self._folds.values():
            if fold.used:
                held.setdefault(fold.key or (None, None), set()).update(fold.used)
        return held

    def attribute_cores(
        self,
        label: int,
        held: Mapping[RuntimeKey, set[int]],
        states: str,
        idle_minutes: Sequence[int],
        *,
        cores_per_device: int | None,
        given: Given | None,
        only_teams: bool,
    ) -> Attribution:
        """
        Name the holders and owners of cores in the epoch minute *label*, which closes.

        *given* is what a look-up says was given to whom; without one, what reports say.
        """
        status = None if given is None else given.status
        allocations = self.pods.allocations()
        if given is not None and status == READ:
            allocations = given.allocations
        elif allocations is not None:
            status = READ
        pods = None
        if allocations is not None:
            pods = owners_given(allocations, cores_per_device, len(states))
        owners = self._owners(held, pods)
        reserved = reserve_cores(allocations or (), held, owners, states, cores_per_device)
        if only_teams:
            owners = {
                key: owner._replace(name=team_name(owner.team)) for key, owner in owners.items()
            }
            reserved = reserved.by_team(allocations or ())
        self.histories.record_minute(
            label, self._folds.values(), owners, is_empty=self._had_no_runtime
        )
        holdings = Holdings(held, owners)
        executed = self.histories.last_executed(label)
        holders, more = idle_holders(holdings, executed, states, idle_minutes, reserved.given_to)
        owned = group_holdings((*self._holdings(holdings), *reserved.holdings))
        return Attribution(holdings, holders, more, owned, status, reserved.unverified)

    def due_lines(self, label: int, holdings: Holdings) -> tuple[RuntimeMinute, ...]:
        """The runtimes of the epoch minute *label* that a line is due for."""
        folds = {key: fold for key, fold in self._folds.items() if key is not None}
        held = {key: tuple(sorted(holdings.cores.get(key, ()))) for key in folds}
        names = {key: holdings.owners.get(key, UNOWNED).name for key in folds}
        failed = {
            key: bool(fold.executions.failed) or fold.has_failed for key, fold in folds.items()
        }
        reasons = self._lines.due_reasons(
            label, ((key, held[key], names[key], failed[key]) for key in folds)
        )
        memory = self.held_cores.memory() if reasons else {}
        return tuple(
            RuntimeMinute.from_fold(folds[key], held[key], memory.get(key), names[key], reason)
            for key, reason in reasons.items()
        )

    def end_minute(self) -> None:
        """Begin a new minute."""
        self._had_executions = self.has_executions()
        self._folds = {}
        self._had_no_runtime = False
        self.held_cores.clear()
        self.pods.end_minute()

    def _owners(
        self, held: Mapping[RuntimeKey, set[int]], pods: Mapping[int, RuntimeOwner] | None
    ) -> dict[RuntimeKey, RuntimeOwner]:
        """The owner of each: that of its process, else the one that its cores are given to."""
        owners: dict[RuntimeKey, RuntimeOwner] = {}
        for key in (*held, *(key for key in self._folds if key is not None)):
            if key in owners:
                continue
            pid, _ = key
            owner = None if pid is None else self._owner_of(pid)
            # What a dead pod held may be given to another by now, or under another id.
            if owner is None or not (owner.gone or owner.is_sure):
                cores = sorted(held.get(key, ()))
                owner = self.pods.owner_by_cores(key, cores, pods) or owner or UNOWNED
            owners[key] = owner
        return owners

    def _holdings(self, holdings: Holdings) -> Iterator[Holding]:
        """The cores of each runtime, and its executions as far as its reports had them."""
        folds = {key or (None, None): fold for key, fold in self._folds.items()}
        for key, cores in holdings.cores.items():
            owner, fold = holdings.owners[key], folds.get(key)
            done = None if fold is None else fold.executions.done
            yield Holding(owner.name, cores, owner.team, executions=done)


class CorePods:
    """Pods by core and device as the newest report has them, and by runtime while none has any."""

    def __init__(self) -> None:
        self._info: KubernetesInfo | None = None
        self._silent_minutes = 0
        self._named: dict[RuntimeKey, RuntimeOwner | None] = {}  # in the open minute
        self._named_before: dict[RuntimeKey, RuntimeOwner | None] = {}

    def add_pods(self, info: KubernetesInfo) -> None:
        """Add the group of one report."""
        if info.error:
            return
        if info.neuroncores_k8s_info is not None or info.neurondevices_k8s_info is not None:
            self._info = info
            self._silent_minutes = 0

    def end_minute(self) -> None:
        """Begin a new minute; allocations and names that are too old no longer count."""
        if self._named:
            self._named, self._named_before = {}, self._named
        self._silent_minutes += 1
        if self._silent_minutes >= ALLOCATED_MINUTES:
            self._info = None
        if self._silent_minutes > NAMED_MINUTES:
            self._named_before = {}

    def allocations(self) -> tuple[Allocation, ...] | None:
        """What pods were given according to reports; None where they do not have it."""
        if self._info is None:
            return None
        cores: dict[RuntimeOwner, set[int]] = {}
        devices: dict[RuntimeOwner, set[int]] = {}
        for table, found in (
            (self._info.neuroncores_k8s_info, cores), (self._info.neurondevices_k8s_info, devices),
        ):  # fmt: skip
            for text, pod in (table or {}).items():
                owner = _pod_owner(pod)
                if owner is not None and text in CORE_INDEX:
                    found.setdefault(owner, set()).add(CORE_INDEX[text])
        return tuple(
            Allocation(
                owner.name or "", owner.team, frozenset(cores.get(owner, ())),
                frozenset(devices.get(owner, ())),
            )
            for owner in dict.fromkeys((*cores, *devices))
        )  # fmt: skip

    def owner_by_cores(
        self,
        runtime: RuntimeKey,
        cores: Iterable[int],
        pods: Mapping[int, RuntimeOwner] | None,
    ) -> RuntimeOwner | None:
        """
        The owner in *pods*, by core, of most of *cores*; of the first core on a tie.

        Without *pods*, the owner of *runtime* in the minute before.
        """
        if pods is None:
            owner = self._named_before.get(runtime)
        else:
            counts = Counter(pods[core] for core in cores if core in pods)
            owner = counts.most_common(1)[0][0] if counts else None
        self._named[runtime] = owner
        return owner


def _pod_owner(pod: Pod | None) -> RuntimeOwner | None:
    if pod is None or not pod.pod_name:
        return None
    name = f"{pod.namespace}/{pod.pod_name}" if pod.namespace else pod.pod_name
    containers = pod.container_name or ()
    if pod.namespace and len(containers) == 1 and containers[0]:
        name = f"{name}/{containers[0]}"
    return RuntimeOwner(name[:MAX_NAME_CHARS], team=pod.namespace or None)
