"""
One host: a clock, a door, a spool, emitters one after the other, and what befalls them.

A thread of its own goes through the host's troubles in order. It notes what it
did; what came of it is looked at when all is over.
"""

from __future__ import annotations

import contextlib
import random
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

from proof.chaos import troubles as kinds
from proof.chaos.hosts import mischief
from proof.chaos.hosts.host_program import SEEN, make_room
from proof.chaos.hosts.notes import Lived, Moved, Notes
from proof.emitter_process import catches_sigterm, wait_until
from proof.kills.lives import Lives, SimulatedHost
from proof.kills.moments import MomentMissedError, Moments
from proof.logs.faults import FAULTS
from proof.wall_clock import WallClock

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from proof.chaos.hosts.doors import Door
    from proof.chaos.troubles import Trouble
    from proof.kills.life import Life

HOSTED = Path(__file__).with_name("host_program.py")
SPEED = 12.0
MINUTE_S = 60.0
CALL_WITHIN_S = 40.0  # real: eight minutes of the run
FULL_FOR_S = 0.6 * MINUTE_S / SPEED  # after the first minute that was not written
DROPPED_WITHIN_S = 8.0
MOST_AFTERWARDS = 4
REPORT_BYTES = 3_000


class ChaosHost:
    """
    One of them.

    Attributes:
        notes: What is known of it.
    """

    def __init__(
        self,
        instance: SimulatedHost,
        folder: Path,
        door: Door,
        *,
        now: Callable[[], float],
        start_s: float,
        plan: Sequence[Trouble],
        begin_minute: float,
        seed: str,
    ) -> None:
        """*now* is the service's clock, which the plan goes by; nothing runs before `start`."""
        folder.mkdir()
        self.instance = instance
        self.notes = Notes()
        self.thread = threading.Thread(target=self._go, name=instance.instance_id, daemon=True)
        self.is_through = threading.Event()  # set here: nothing of the plan is left
        self.is_over = threading.Event()  # set by the run: say goodbye
        self._door = door
        self._now = now
        self._start_s = start_s
        self._plan = plan
        self._begin_minute = begin_minute
        self._rng = random.Random(seed)
        self._clock = WallClock(folder / "clock")
        self.lives = Lives(
            folder,
            self._clock,
            door.service.variables,
            ("--runtime-lines", "all"),
            instance,
            HOSTED,
        )
        self._moments = Moments(
            *(door.service, self.lives, self._rng),
            speed=SPEED,
            patience_s=CALL_WITHIN_S,
            most_passing=0,
        )
        self._life: Life | None = None
        self._is_closed = False
        self._may_begin = threading.Lock()

    def start(self) -> None:
        """Let the clock run, a little wrong as clocks are, and the thread."""
        self._clock.set(self._now() + self._rng.uniform(-15.0, 15.0), SPEED)
        self.thread.start()

    def close(self) -> None:
        """Whatever it came to, nothing goes on living."""
        with self._may_begin:
            self._is_closed = True
        self.lives.__exit__(None, None, None)

    def _go(self) -> None:
        try:
            self._wait_for(self._begin_minute)
            self._begin()
            for trouble in self._plan:
                self._wait_for(trouble.at_minute)
                self._meet(trouble)
            with contextlib.suppress(AssertionError):  # then it is missed in the end
                wait_until(self._have_befallen, CALL_WITHIN_S)
            self.is_through.set()
            self.is_over.wait()
            self._end()
        except Exception as error:  # noqa: BLE001 - whatever it is, it is no proof
            if not self._is_closed:
                words = "" if self._life is None else self._life.last_words()[-400:]
                self.notes.wrong.append(f"{type(error).__name__}: {error} {words}".strip())
        finally:
            self.is_through.set()

    def _wait_for(self, minute: float) -> None:
        while (left_s := self._start_s + minute * MINUTE_S - self._now()) > 0:
            time.sleep(min(0.5, left_s / SPEED))

    def _begin(self) -> None:
        with self._may_begin:
            if self._is_closed:
                msg = "the run was ended"
                raise RuntimeError(msg)
            seen = make_room(self.lives.folder / f"seen-{len(self.notes.lives) + 1}")
            self._life = self.lives.begin(**{SEEN: str(seen)})
        self.notes.lives.append(Lived(self._life.truth, seen))

    def _meet(self, trouble: Trouble) -> None:
        life = self._life
        assert life is not None
        mischief.still_lives(life)
        ways: dict[str, Callable[[Life, Trouble], object]] = {
            kinds.KILL_ANYWHERE: lambda life, _: life.kill(),
            kinds.KILL_IN_COMMIT: lambda life, _: self._moments.writing(life),
            kinds.KILL_BEFORE_TAKEN: lambda life, _: self._moments.sending(life),
            kinds.KILL_BEFORE_ANSWER: lambda life, _: self._moments.answering(life),
            kinds.PLANNED_STOP: self._stop,
            kinds.MONITOR_KILLED: lambda life, _: mischief.kill_monitor(life, self.lives),
            kinds.MONITOR_HANGS: lambda life, _: mischief.hang_monitor(life, self.lives),
            kinds.DISK_FULL: lambda life, _: mischief.fill_disk(life, FULL_FOR_S),
            kinds.CLOCK_FORWARD: lambda _, trouble: self._move(trouble.amount),
            kinds.CLOCK_BACK: lambda _, trouble: self._move(trouble.amount),
            kinds.HOURS_AHEAD: self._be_hours_ahead,
            kinds.CREDENTIALS: self._refuse,
            kinds.NETWORK_LOST: lambda *_: self._door.close(),
            kinds.NETWORK_BACK: lambda *_: self._door.open(),
        }
        kind = trouble.kind
        if kind not in ways:
            self._door.service.next_faults.append(kind)  # counted when it befalls a call
            return
        try:
            ways[kind](life, trouble)
        except MomentMissedError:
            kind = kinds.KILL_ANYWHERE
            life.kill()
        self.notes.happened[kind] += 1
        if life.has_ended:
            self._after(life)
            time.sleep(self._rng.uniform(0.0, 1.0))
            self._begin()

    def _have_befallen(self) -> bool:
        """
        Whether each fault of the plan befell a call; one that met a call that was refused
        for a reason of its own is tried again.
        """
        service = self._door.service
        waiting = {one.kind for one in self._plan} & set(FAULTS) - service.happened.keys()
        if waiting and not service.next_faults:
            service.next_faults += sorted(waiting)
        return not waiting

    def _after(self, life: Life) -> None:
        life.leaves_no_orphan()
        kept = self.lives.kept()
        self.notes.produced |= kept.produced
        self.notes.dropped |= kept.dropped
        self.notes.waited |= kept.waiting
        self.notes.left = len(kept.waiting)

    def _stop(self, life: Life, _trouble: Trouble | None = None) -> None:
        # Before its first line runs, no program can say what a signal does to it.
        wait_until(lambda: life.has_ended or catches_sigterm(life.process.pid), CALL_WITHIN_S)
        code = life.stop()
        assert code == 0, f"a planned stop ended with {code}, expected 0"

    def _move(self, by_s: float) -> None:
        before_s = self._clock()
        self._clock.move(by_s)
        self.notes.moves.append(Moved(before_s, self._clock()))

    def _be_hours_ahead(self, life: Life, trouble: Trouble) -> None:
        self._move(trouble.amount)
        time.sleep(1.2 * MINUTE_S / SPEED)  # at least one minute is closed there
        self._move(-trouble.amount)
        with contextlib.suppress(AssertionError):  # without a network that comes later
            mischief.hear(life, "reason=too_new", DROPPED_WITHIN_S)

    def _refuse(self, _life: Life, trouble: Trouble) -> None:
        self._door.refuse(everything=True)
        time.sleep(trouble.amount * MINUTE_S / SPEED)
        self._door.refuse(everything=False)

    def _end(self) -> None:
        """Say goodbye, and as often as records are left, come back and send them."""
        for turn in range(MOST_AFTERWARDS):
            if turn:
                self._begin()
            life = self._life
            assert life is not None
            mischief.await_report(life)
            self._stop(life)
            self._after(life)
            if not self.notes.left:
                return
        msg = f"{self.notes.left} record(s) stayed in the spool, although the service was there"
        raise AssertionError(msg)
