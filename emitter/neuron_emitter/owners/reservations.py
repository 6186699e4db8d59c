"""
The assignments of this machine's schedulers, read in a thread that nothing waits for.

Several sources may have the assignments. The first source that answers counts, and its last answer
counts for two minutes, in which a scheduler may restart. If a scheduler is here and no source
answers, reservations are unknown, which does not mean that there are none.
"""

from __future__ import annotations

import logging
import time
from collections import Counter, defaultdict
from itertools import chain
from threading import Event, Thread
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emitter.instance.machine import INPUTS_OF_THIS_MACHINE
from neuron_emitter.owners import container_devices, kubelet, slurm
from neuron_emitter.owners.assignments import Allocation, Assignments, UnknownAssignmentsError
from neuron_emitter.owners.container_devices import ContainerDevices
from neuron_emitter.owners.kubelet import HandedOver
from neuron_emitter.owners.kubelet_checkpoint import KubeletCheckpoint
from neuron_emitter.owners.lookup import OFF
from neuron_emitter.owners.places import Places
from neuron_emitter.owners.pod_resources import PodResources
from neuron_emitter.owners.slurm import SlurmJobs
from neuron_wire.holders import MAX_TEAM_CHARS, printable_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from neuron_emitter.logs import Clock
    from neuron_emitter.owners.assignments import Allocations, AssignmentSource, Status

READ_EVERY_S: Final = 15.0
RESERVATIONS_KEPT_S: Final = 120.0

_log = logging.getLogger(__name__)


class Scheduler(NamedTuple):
    """A scheduler that assigns cores: its presence here, and its sources, the best first."""

    is_here: Callable[[], bool]
    sources: Sequence[AssignmentSource]


def schedulers_of(places: Places) -> tuple[Scheduler, ...]:
    """Return the schedulers that can be on the machine at *places*, with their sources."""
    sources: list[AssignmentSource] = []
    if not places.is_saved and places.handed_over.parent.is_dir():
        sources = [HandedOver(places)]
    if not sources or (places.root / kubelet.KUBELET).is_dir():
        sources += [] if places.is_saved else [PodResources(places)]
        sources.append(KubeletCheckpoint(places))
    return (
        Scheduler(lambda: kubelet.is_here(places), sources),
        Scheduler(lambda: container_devices.is_here(places), (ContainerDevices(places),)),
        Scheduler(lambda: slurm.is_here(places), (SlurmJobs(places),)),
    )


def reservations_reader_of(attribution: str, source: str, proc: Path) -> Reservations | None:
    """
    Return a reader of assignments; None if reports from *source* may be of another machine.

    Without attribution it only checks whether there is a scheduler. The caller closes it.
    """
    if source not in INPUTS_OF_THIS_MACHINE:
        return None
    schedulers = schedulers_of(Places.around(proc))
    if attribution == OFF:
        schedulers = tuple(scheduler._replace(sources=()) for scheduler in schedulers)
    return Reservations(schedulers)


def saved_reservations(proc: Path | None) -> Reservations | None:
    """
    Return the assignments in files next to the `/proc` in *proc*, without services or commands.

    Missing assignments are `unknown` in each line, without a warning: it is too late to correct
    them.
    """
    if proc is None:
        return None
    schedulers = schedulers_of(Places.saved_around(proc))
    # With a clock that does not move, the answer counts for the whole replay.
    saved = Reservations(schedulers, clock=lambda: 0.0, is_background=False, is_quiet=True)
    saved.read_schedulers()
    return saved


class _KeptAnswer(NamedTuple):
    allocations: Allocations
    source: str
    until_s: float
    is_whole: bool = True


class Reservations:
    """
    The assignments as last read. No method raises, and only the thread waits.

    Without its thread (`is_background=False`), the caller of `read_schedulers` is the thread.
    """

    def __init__(
        self,
        schedulers: Sequence[Scheduler],
        *,
        clock: Clock = time.monotonic,
        is_background: bool = True,
        is_quiet: bool = False,
    ) -> None:
        self._schedulers = schedulers
        self._is_quiet = is_quiet
        self._clock = clock
        # Failures in a row before a warning: a container next to the emitter may start later.
        self._said_after = 2 if is_background else 1
        self._answers: dict[str, _KeptAnswer] = {}  # the last answers, by source
        self._failures: Counter[str] = Counter()  # in a row, by source
        self._said: defaultdict[str, set[str]] = defaultdict(set)  # logged reasons, by source
        self._odd: set[str] = set()  # sources whose dropped IDs were logged
        # the assignments, and the time until which they count
        self._known = (Assignments("unknown"), float("inf"))
        self._closed = Event()
        if is_background:
            Thread(target=self._run, name="reservations", daemon=True).start()

    def current_assignments(self) -> Assignments:
        """Return the assignments; `unknown` at first, and if the thread hangs."""
        assignments, until_s = self._known
        return assignments if self._clock() <= until_s else Assignments("unknown")

    def close(self) -> None:
        """Stop reading. A running request ends by itself; no caller waits for it."""
        self._closed.set()

    def read_schedulers(self) -> None:
        """Ask each scheduler that is here."""
        here = [scheduler for scheduler in self._schedulers if scheduler.is_here()]
        answers = [self._answer(scheduler.sources) for scheduler in here]
        known = [answer for answer in answers if answer is not None]
        until_s = min(
            (answer.until_s for answer in known), default=self._clock() + RESERVATIONS_KEPT_S
        )
        is_whole = len(known) == len(here) and all(answer.is_whole for answer in known)
        status: Status = "known" if is_whole else "unknown"
        allocations = tuple(chain.from_iterable(answer.allocations for answer in known))
        sources = tuple(answer.source for answer in known)
        self._known = (Assignments(status if here else "none", allocations, sources), until_s)

    def _answer(self, sources: Sequence[AssignmentSource]) -> _KeptAnswer | None:
        """Return the first source's answer that is at most `RESERVATIONS_KEPT_S` old."""
        for source in sources:
            allocations = None
            is_whole = False
            try:
                allocations = source.read_allocations()
                is_whole = True
            except UnknownAssignmentsError as error:
                allocations = error.known
                self._say_failure(source.name, str(error), error.remedy)
            except Exception as error:  # noqa: BLE001 - the others are worth more than this one
                reason = f"reading it failed ({type(error).__name__})"
                self._say_failure(source.name, reason, "Report it with this line")
            else:
                self._say_success(
                    source.name, sum(allocation.odd_ids for allocation in allocations)
                )
            if allocations is not None:
                until_s = self._clock() + RESERVATIONS_KEPT_S
                answer = _KeptAnswer(
                    tuple(map(_shown, allocations)), source.name, until_s, is_whole
                )
                if is_whole:
                    self._answers[source.name] = answer
                return answer
            kept = self._answers.get(source.name)
            if kept is not None and self._clock() <= kept.until_s:
                return kept
        return None

    def _say_failure(self, source: str, reason: str, remedy: str) -> None:
        self._failures[source] += 1
        is_due = self._failures[source] >= self._said_after and not self._is_quiet
        if is_due and reason not in self._said[source]:
            self._said[source].add(reason)
            _log.warning("Cannot read reserved cores from %s: %s. %s.", source, reason, remedy)

    def _say_success(self, source: str, odd_ids: int) -> None:
        self._failures[source] = 0
        if self._said.pop(source, None):
            _log.info("Reserved cores are read from %s again.", source)
        if odd_ids and source not in self._odd:
            self._odd.add(source)
            _log.warning(
                "Dropped %d IDs from %s: not core or device indexes. Device-sharing tools use such "
                "IDs.",
                odd_ids,
                source,
            )

    def _run(self) -> None:
        self.read_schedulers()
        while not self._closed.wait(READ_EVERY_S):
            self.read_schedulers()


def _shown(allocation: Allocation) -> Allocation:
    """Return *allocation* with its name hidden as for owners of processes: it may name a person."""
    name = printable_name(allocation.name)
    team = printable_name(allocation.team, MAX_TEAM_CHARS)
    unknown = "" if allocation.has_ended else "?"
    return allocation._replace(name=name or unknown, team=team)
