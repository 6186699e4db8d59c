"""
What the schedulers of this machine have given, read in the background and never waited for.

Several sources may know it; the first that tells is believed, and its last answer counts for two
minutes, in which a scheduler may restart. Where a scheduler is here and no source tells, nobody
knows: that is not the same as nothing.
"""

from __future__ import annotations

import logging
import threading
import time
from typing import TYPE_CHECKING, Final, NamedTuple

from emitter.instance.machine import INPUTS_OF_THIS_MACHINE
from emitter.owners import container_devices, kubelet, slurm_jobs
from emitter.owners.container_devices import ContainerDevices
from emitter.owners.given import Allocation, Given, UnreadError
from emitter.owners.handed_over import HandedOver
from emitter.owners.kubelet_checkpoint import KubeletCheckpoint
from emitter.owners.lookup import OFF
from emitter.owners.places import Places
from emitter.owners.pod_resources import PodResources
from emitter.owners.slurm_jobs import SlurmJobs
from neuron_wire.holders import MAX_TEAM_CHARS, printable_name

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from emitter.owners.given import GivenSource

READ_EVERY_S: Final = 15.0
KEPT_S: Final = 120.0
SAID_AFTER: Final = 2
"""Failures in a row: a container beside the emitter may start later than its first look."""

_log = logging.getLogger(__name__)


class Scheduler(NamedTuple):
    """One that gives cores: whether it is on this machine, and who tells of it, best first."""

    is_here: Callable[[], bool]
    sources: Sequence[GivenSource]


def schedulers_of(places: Places) -> tuple[Scheduler, ...]:
    """Those that can be on the machine at *places*, with the sources that it has."""
    sources: list[GivenSource] = []
    if not places.is_saved and places.handed_over.parent.is_dir():
        sources = [HandedOver(places)]
    if not sources or (places.root / kubelet.KUBELET).is_dir():
        sources += [] if places.is_saved else [PodResources(places)]
        sources.append(KubeletCheckpoint(places))
    return (
        Scheduler(lambda: kubelet.is_here(places), sources),
        Scheduler(lambda: container_devices.is_here(places), (ContainerDevices(places),)),
        Scheduler(lambda: slurm_jobs.is_here(places), (SlurmJobs(places),)),
    )


def given_of(attribution: str, source: str, proc: Path) -> Reservations | None:
    """
    Who says what was given on the machine of reports from *source*; None where that is not this.

    Without attribution it is only looked whether there is a scheduler. The caller closes it.
    """
    if source not in INPUTS_OF_THIS_MACHINE:
        return None
    schedulers = schedulers_of(Places.beside(proc))
    if attribution == OFF:
        schedulers = tuple(scheduler._replace(sources=()) for scheduler in schedulers)
    return Reservations(schedulers)


def saved_given(proc: Path | None) -> Given | None:
    """
    What the files beside the `/proc` saved in *proc* say; no service or command is asked.

    What they do not say is `unread` in each line, and no warning: nobody can mend it any more.
    """
    if proc is None:
        return None
    schedulers = schedulers_of(Places.saved_beside(proc))
    saved = Reservations(schedulers, is_background=False, is_quiet=True)
    saved.read()
    return saved.now()


class _Answer(NamedTuple):
    allocations: Sequence[Allocation]
    source: str
    until_s: float


class Reservations:
    """
    What was given, as last told. Nothing here raises, and nothing but the thread waits.

    Without its thread (`is_background=False`) whoever calls `read` is the thread.
    """

    def __init__(
        self,
        schedulers: Sequence[Scheduler],
        *,
        clock: Callable[[], float] = time.monotonic,
        is_background: bool = True,
        is_quiet: bool = False,
    ) -> None:
        self._schedulers = schedulers
        self._is_quiet = is_quiet
        self._clock = clock
        self._said_after = SAID_AFTER if is_background else 1
        self._answers: dict[str, _Answer] = {}  # the last ones, by source
        self._failures: dict[str, int] = {}  # in a row, by source
        self._said: dict[str, set[str]] = {}  # reasons, by source
        self._odd: set[str] = set()  # sources whose dropped ids were told
        self._known = (Given("unread"), float("inf"))  # until when it counts
        self._closed = threading.Event()
        if is_background:
            threading.Thread(target=self._run, name="reservations", daemon=True).start()

    def now(self) -> Given:
        """What is known; `unread` before the first reading, and where the thread hangs."""
        given, until_s = self._known
        return given if self._clock() <= until_s else Given("unread")

    def close(self) -> None:
        """Read no more. A question under way ends by itself and delays nobody."""
        self._closed.set()

    def read(self) -> None:
        """Ask each scheduler that is here."""
        here = [scheduler for scheduler in self._schedulers if scheduler.is_here()]
        answers = [self._answer(scheduler.sources) for scheduler in here]
        told = [answer for answer in answers if answer is not None]
        until_s = min((answer.until_s for answer in told), default=self._clock() + KEPT_S)
        if len(told) < len(here):
            given = Given("unread")
        elif here:
            allocations = tuple(one for answer in told for one in answer.allocations)
            given = Given("read", allocations, tuple(answer.source for answer in told))
        else:
            given = Given("none")
        self._known = (given, until_s)

    def _answer(self, sources: Sequence[GivenSource]) -> _Answer | None:
        """What the first source tells that tells, or told within `KEPT_S`."""
        for source in sources:
            try:
                allocations = tuple(map(_shown, source.read()))
            except UnreadError as error:
                self._say_failure(source.name, str(error), error.remedy)
            except Exception as error:  # noqa: BLE001 - the others are worth more than this one
                reason = f"reading it failed ({type(error).__name__})"
                self._say_failure(source.name, reason, "Report it with this line")
            else:
                self._say_success(source.name, sum(one.odd_ids for one in allocations))
                answer = _Answer(allocations, source.name, self._clock() + KEPT_S)
                self._answers[source.name] = answer
                return answer
            kept = self._answers.get(source.name)
            if kept is not None and self._clock() <= kept.until_s:
                return kept
        return None

    def _say_failure(self, source: str, reason: str, remedy: str) -> None:
        self._failures[source] = self._failures.get(source, 0) + 1
        said = self._said.setdefault(source, set())
        is_due = self._failures[source] >= self._said_after and not self._is_quiet
        if is_due and reason not in said:
            said.add(reason)
            _log.warning("Cannot read reserved cores from %s: %s. %s.", source, reason, remedy)

    def _say_success(self, source: str, odd_ids: int) -> None:
        self._failures[source] = 0
        said = self._said.setdefault(source, set())
        if said:
            _log.info("Reserved cores are read from %s again.", source)
        said.clear()
        if odd_ids and source not in self._odd:
            self._odd.add(source)
            _log.warning(
                "Dropped %d of the ids from %s: they are no indexes of cores or devices, as those "
                "of tools that share devices.",
                odd_ids,
                source,
            )

    def _run(self) -> None:
        self.read()
        while not self._closed.wait(READ_EVERY_S):
            self.read()


def _shown(allocation: Allocation) -> Allocation:
    """As the owners of processes are shown: names are other people's."""
    name, team = printable_name(allocation.name), printable_name(allocation.team, MAX_TEAM_CHARS)
    return allocation._replace(name=name or "?", team=team)
