"""
The runs of close: on time, missed, killed at every step, two at once.

Runs come far more often than once a minute, so that enough runs can die at each step. Between two
ticks a run starts every seven seconds. It has five seconds, so its lease has ended when the next
run starts. The run of the tick itself has fifty seconds: if it dies, the next runs find its lease
and do nothing.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from neuron_wire.names import MINUTE_S
from proof.chaos.functions import (
    FAILED,
    HEALTH_STEP,
    PRINT,
    Functions,
    InjectedFaults,
)
from proof.chaos.timeline import Deck, Steps

if TYPE_CHECKING:
    import random
    from collections.abc import Callable

    from proof.chaos.timeline import Timeline

LONG_S = 50.0
SHORT_RUN_S = 5.0  # with less time a run starts no work
APART_S = 7.1  # a lease outlives its run's time by two seconds
BETWEEN = 7  # runs between two ticks
LONGEST_CLOSE_PAUSE_S = 40.0  # less than the time of a run
CLOSE_TICKS = {
    "": 1,
    "lease of a dead run": 1,
    "held up": 3,
    "the table refused": 2,
    "two at once": 2,
    "met by ingest": 4,
    "tick missed": 1,
    "three ticks missed": 1,
}
FEWEST_STEPS = 9  # the steps of a run without work
CLOSE_CALLS = (  # first the calls that only a run with work makes
    *("write_registry", PRINT, "write_last_rollup", "write_publication", "clear_marker"),
    *("read_publications", "read_bucket", "take_lease", "read_progress", "write_progress"),
    *("read_markers", "read_registry", "read_departures", "release_lease", HEALTH_STEP),
)
OF_ONE_MINUTE = 64  # buckets read by a run that closed one minute and read part of the next
CLOSE_TROUBLES = tuple(
    f"close: {card}" for card in CLOSE_TICKS if card not in {"", "three ticks missed"}
)


class CloseRuns:
    """
    Every invocation of close.

    Attributes:
        steps: Steps at which close was killed, and steps that are left.

        deliver: Delivers something at once; returns True if there was something.
    """

    def __init__(self, rng: random.Random, timeline: Timeline, functions: Functions) -> None:
        self.steps = Steps("close", CLOSE_CALLS, rng, timeline.happened)
        self.deliver: Callable[[], bool] = lambda: False
        self._rng = rng
        self._timeline = timeline
        self._functions = functions
        self._ticks = Deck(rng, CLOSE_TICKS)
        self._to_miss = 0

    def start_ticks(self) -> None:
        """
        Start the first run, without faults, and then a tick every minute.

        Ticks come 36 to 44 seconds into the minute: a minute is due 45 seconds after its end, so
        the runs that will die find work before the tick does.
        """
        self.run()
        into_s = self._timeline.now_s % MINUTE_S
        self._timeline.after((self._rng.uniform(36, 44) - into_s) % MINUTE_S, self._tick)

    def run(self, faults: InjectedFaults | None = None) -> None:
        """Run once, without trouble unless there are *faults*."""
        faults = faults or InjectedFaults()
        seen = self._functions.close(faults)
        happened = self._timeline.happened
        if self.steps.count_failure(seen, faults):
            return
        if seen.ended == FAILED:
            self._timeline.complain(f"expected close to end in order, found {seen.error}")
        elif seen.calls == ["take_lease"]:
            happened["close: lease of a dead run"] += 1
        else:
            happened["close: runs to the end"] += 1
            health = seen.health
            one_minute = health["MinutesClosed"] == 1 and not health["MinutesRestated"]
            if one_minute and seen.calls.count("read_bucket") <= OF_ONE_MINUTE:
                self.steps.count_steps(len(seen.calls))
            for name in ("MinutesDropped", "RecordsUnreadable", "LinesRefused"):
                if health[name]:
                    self._timeline.complain(f"expected {name} 0, found {health[name]}")

    def _tick(self) -> None:
        self._timeline.after(MINUTE_S, self._tick)
        for number in range(1, BETWEEN + 1):
            self._timeline.after(APART_S * number, self._die)
        if self._to_miss == 0:
            card = self._ticks.deal()
            self._to_miss = {"tick missed": 1, "three ticks missed": 3}.get(card, 0)
            if not self._to_miss:
                self.run(self._choose_faults(card))
                return
        self._to_miss -= 1
        self._timeline.happened["close: tick missed"] += 1

    def _choose_faults(self, card: str) -> InjectedFaults | None:
        if card == "lease of a dead run":
            return self._death(LONG_S)
        most = self._rng.choice([FEWEST_STEPS, max(FEWEST_STEPS, self.steps.most)])
        at = self._rng.randint(1, most)
        faults_by_card = {
            "the table refused": InjectedFaults(refused_at=at),
            "held up": InjectedFaults(meets_at=at, meets=self._hold_up),
            "two at once": InjectedFaults(meets_at=at, meets=self._meet_close),
            "met by ingest": InjectedFaults(meets_at=at, meets=self._meet_ingest),
        }
        return faults_by_card.get(card)

    def _die(self) -> None:
        faults = self._death(SHORT_RUN_S)
        if faults is not None:
            self.run(faults)

    def _hold_up(self) -> None:
        # The delay is never longer than the lease, because Lambda would have ended the function. So
        # a run may be delayed within a delayed invocation of ingest, but ingest not within a run.
        seconds = self._rng.uniform(5.0, LONGEST_CLOSE_PAUSE_S)
        held_up = self._timeline.hold_up("close", seconds, within=("ingest",))
        self._timeline.happened["close: held up"] += held_up

    def _meet_close(self) -> None:
        self._timeline.happened["close: two at once"] += 1
        self.run()

    def _meet_ingest(self) -> None:
        self._timeline.happened["close: met by ingest"] += self.deliver()

    def _death(self, remaining_s: float) -> InjectedFaults | None:
        """
        Return where the next run dies: in a kind of call in which none died, or at another step.
        """
        call = self.steps.next_call()
        number = self.steps.next_number()
        if call is not None and (number is None or self._rng.random() < 0.7):
            return InjectedFaults(killed_at=(call[0], 1), after=call[1], remaining_s=remaining_s)
        if number is None:
            return None
        return InjectedFaults(killed_at=number[0], after=number[1], remaining_s=remaining_s)
