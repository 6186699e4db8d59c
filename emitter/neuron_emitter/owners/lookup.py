"""
Look up the owners of pids in the background, so that the reader never waits.

The reader reports the pids of each report and asks for known owners: both are dictionary accesses.
A thread reads `/proc` and asks the services. A pid is the same process only if its start time is
the same, which the thread checks again and again.
"""

from __future__ import annotations

import logging
import time
from contextlib import suppress
from dataclasses import dataclass, replace
from queue import Empty, SimpleQueue
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from neuron_emitter.instance.machine import INPUTS_OF_THIS_MACHINE
from neuron_emitter.owners.membership import Presence
from neuron_emitter.owners.naming import Naming
from neuron_emitter.owners.places import Places, reach
from neuron_emitter.owners.process import MAX_PID, ProcessGoneError, boot_time_s, open_process
from neuron_wire.line_members import iso_minute

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from neuron_emitter.logs import Clock
    from neuron_emitter.owners.assignments import RuntimeOwner, Text

OFF: Final = "none"

MAX_PROCESSES: Final = 1024  # one runtime for each possible core of an instance
# Seconds between two checks that every process is still the same one.
AGAIN_S: Final = 20.0

# Seconds for which a process counts after the last report that named it.
PROCESS_KEPT_S: Final = 300.0

# Seconds for which a pod or job must be missing before its process counts as one that outlived it.
GONE_AFTER_S: Final = 600.0

MAX_TIME_S: Final = 1 << 36  # the year 4147; a later time is invalid

START_SLACK_S: Final = 1.0  # a start time may be this much after the report, by rounded ticks

FIRST_RETRY_S: Final = 30.0
LONGEST_RETRY_S: Final = 3600.0

_log = logging.getLogger(__name__)


def owners_of(attribution: str, source: str, proc: Path) -> OwnerLookup | None:
    """
    Return a lookup of pids in reports from *source*; None if the pids are not this machine's.

    The caller closes it.
    """
    places = Places.around(proc)
    if attribution == OFF or source not in INPUTS_OF_THIS_MACHINE or not _names_owners(places):
        return None
    return OwnerLookup(places)


def saved_owners(proc: Path | None, clock: Clock) -> OwnerLookup | None:
    """
    Return a lookup of pids in saved reports, by the `/proc` saved in *proc*; None without it.

    It reads only files, and *clock* has the times of the reports, so that the names are the same
    tomorrow.
    """
    places = None if proc is None else Places.saved_around(proc)
    if places is None or not _names_owners(places):
        return None
    return _SavedOwners(places, clock=clock, is_background=False)


def _names_owners(places: Places) -> bool:
    here = reach(places)
    if here.why_not:
        _log.warning("Owners cannot be named by process ID: %s. %s.", here.why_not, here.advice)
    return not here.why_not


def _since_boot_s() -> float:
    return time.clock_gettime(time.CLOCK_BOOTTIME)


@dataclass(frozen=True, slots=True)
class _Known:
    """The known facts about one process; times in seconds since the boot."""

    started_s: float
    owner: RuntimeOwner
    retry_at_s: float
    retry_after_s: float
    missing_since_s: float | None = None  # time from which its pod or job is missing


class OwnerLookup:
    """
    Names of owners by pid. No method raises, and only the thread waits.

    Without its thread (`is_background=False`), the caller of `look_up_pending` is the thread.
    """

    def __init__(
        self,
        places: Places,
        *,
        clock: Clock = _since_boot_s,
        is_background: bool = True,
    ) -> None:
        self._places = places
        self._clock = clock
        self._naming = Naming(places)
        self._seen: dict[int, float] = {}  # when a report last named the pid
        self._known: dict[int, _Known] = {}
        self._asked: SimpleQueue[int | None] = SimpleQueue()
        self._closed = Event()
        self._said: set[str] = set()
        if is_background:
            Thread(target=self._run, name="owners", daemon=True).start()

    def note_pids(self, pids: Iterable[int | None]) -> None:
        """Note the *pids* that a report names."""
        now_s = self._clock()
        for pid in pids:
            if pid in self._seen:
                self._seen[pid] = now_s
            elif pid is not None and 0 < pid <= MAX_PID:
                if len(self._seen) >= MAX_PROCESSES:
                    self._say(f"No owner is named for more than {MAX_PROCESSES} processes.")
                    continue
                self._seen[pid] = now_s
                self._asked.put(pid)

    def owner_of(self, pid: int) -> RuntimeOwner | None:
        """Return the owner of the process; None if unknown, or not known yet."""
        known = self._known.get(pid)
        return known.owner if known else None

    def close(self) -> None:
        """Stop the lookups. A running request ends by itself; no caller waits for it."""
        self._closed.set()
        self._asked.put(None)

    def look_up_pending(self, wait_s: float = 0.0) -> None:
        """Look up the noted processes, waiting at most *wait_s* for the first."""
        with suppress(Empty):
            pid = self._asked.get(timeout=wait_s) if wait_s else self._asked.get_nowait()
            while pid is not None:
                self._look_up(pid)
                pid = self._asked.get_nowait()

    def recheck_processes(self) -> None:
        """
        Check that every process is the same as before, and that its pod or job still exists.

        Processes that no report names any more are removed.
        """
        now_s = self._clock()
        presence = Presence(self._places.root)
        for pid, seen_s in list(self._seen.items()):
            if self._closed.is_set():
                return
            # A process that was not found has probably ended: make room for others.
            if now_s - seen_s > (PROCESS_KEPT_S if pid in self._known else AGAIN_S):
                self._seen.pop(pid, None)
                self._known.pop(pid, None)
            else:
                self._look_up(pid)
                self._check_presence(pid, presence, now_s)

    def _check_presence(self, pid: int, presence: Presence, now_s: float) -> None:
        known = self._known.get(pid)
        if known is None:
            return
        since_s = None
        if presence.is_missing(job=known.owner.job, pod=known.owner.pod):
            since_s = now_s if known.missing_since_s is None else known.missing_since_s
        gone = since_s is not None and now_s - since_s >= GONE_AFTER_S
        owner = known.owner._replace(gone=gone)
        self._known[pid] = replace(known, owner=owner, missing_since_s=since_s)

    def _run(self) -> None:
        again_at_s = self._clock() + AGAIN_S
        while not self._closed.is_set():
            self.look_up_pending(max(0.1, again_at_s - self._clock()))
            if self._clock() >= again_at_s:
                self.recheck_processes()
                again_at_s = self._clock() + AGAIN_S

    def _look_up(self, pid: int) -> None:
        known = None
        try:
            with suppress(ProcessGoneError):
                known = self._name_process(pid)
        except PermissionError:
            self._say(
                "Cannot read the owner of a process in /proc: permission denied. Run as "
                "a user who may read it, or use --attribution none.",
            )
        except Exception as error:  # noqa: BLE001 - a name is worth less than the thread
            self._say(f"Looking up an owner failed: {type(error).__name__}.")
        if known is None:
            self._known.pop(pid, None)
        else:
            self._known[pid] = known

    def _name_process(self, pid: int) -> _Known | None:
        known = self._known.get(pid)
        with open_process(self._places.proc, pid) as process:
            command, began_s = process.command_and_start()
            if known and known.started_s != began_s:
                known = None
            if known and (known.owner.is_final or self._clock() < known.retry_at_s):
                return known
            if began_s > self._seen.get(pid, 0.0) + START_SLACK_S:
                # The process started after the report, so the report named an earlier process.
                return None
            owner = self._naming.name_owner(process, command)
        if self._naming.was_denied:
            self._say(
                "Cannot read the environment of other users' processes: ECS services, "
                "and Slurm jobs without a control group, are not named. "
                "Run as root (CAP_SYS_PTRACE) to name them.",
            )
        after_s = FIRST_RETRY_S
        missing_since_s = None
        if known:
            after_s = min(LONGEST_RETRY_S, 2 * known.retry_after_s)
            owner = owner._replace(gone=known.owner.gone)
            missing_since_s = known.missing_since_s
        # Kept while the process is the same: a corrected clock moves the boot time.
        started = known.owner.started if known else self._started_minute(began_s)
        owner = owner._replace(started=started, command=command or None)
        return _Known(began_s, owner, self._clock() + after_s, after_s, missing_since_s)

    def _started_minute(self, began_s: float) -> Text:
        boot_s = boot_time_s(self._places.proc)
        if boot_s is None or boot_s + began_s > MAX_TIME_S:
            return None
        return iso_minute(int(boot_s + began_s) // 60)

    def _say(self, sentence: str) -> None:
        if sentence not in self._said:
            self._said.add(sentence)
            _log.warning("%s", sentence)


class _SavedOwners(OwnerLookup):
    """Owners of processes that have ended: each is looked up at once."""

    def owner_of(self, pid: int) -> RuntimeOwner | None:
        """Return the owner of process *pid* in the saved `/proc`, None if unknown."""
        self.note_pids((pid,))
        self.look_up_pending()
        self.recheck_processes()
        return super().owner_of(pid)
