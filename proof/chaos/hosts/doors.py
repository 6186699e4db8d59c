"""What stands between the hosts and the one service: a door each, and the weather for all."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

from proof.chaos.troubles import ALL_BACK, ALL_LOST, STORM
from proof.logs.faults import DENIED, FAULTS, NEVER_ANSWERED, THROTTLED, UNHEARD
from proof.logs.service import LogsService

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.logs.rules import LogRules

# Of any call, at any time. Silence costs the client its whole patience: it is planned only.
USUAL = dict.fromkeys([one for one in FAULTS if one not in {UNHEARD, NEVER_ANSWERED, DENIED}], 0.01)
IN_A_STORM = {THROTTLED: 0.8}
REFUSED = {DENIED: 1.0}


class Door:
    """
    One host's way to the service.

    It may be closed for more than one reason, and opens when none is left.
    """

    def __init__(self, clock: Callable[[], float], seed: int, rules: LogRules) -> None:
        self.service = LogsService(clock, seed, rules)
        self.service.signing_clock = clock
        self._reasons = 0
        self._is_stormy = self._is_refused = False
        self._one_at_a_time = threading.Lock()
        self._weigh()

    def close(self) -> None:
        """One more reason why the service cannot be reached."""
        with self._one_at_a_time:
            self._reasons += 1
            if self._reasons == 1:
                self.service.vanish()

    def open(self) -> None:
        """One reason less."""
        with self._one_at_a_time:
            self._reasons -= 1
            if not self._reasons:
                self.service.come_back()

    def storm(self, *, blows: bool) -> None:
        """Whether most calls are throttled."""
        self._is_stormy = blows
        self._weigh()

    def refuse(self, *, everything: bool) -> None:
        """Whether the credentials are worth nothing."""
        self._is_refused = everything
        self._weigh()

    def calm(self) -> None:
        """Nothing goes wrong any more."""
        with self._one_at_a_time:
            if self._reasons:
                self._reasons = 0
                self.service.come_back()
        self.service.next_faults.clear()
        self.service.chances = {}

    def _weigh(self) -> None:
        storm = IN_A_STORM if self._is_stormy else {}
        self.service.chances = REFUSED if self._is_refused else {**USUAL, **storm}


def change(doors: list[Door], kind: str) -> None:
    """The weather changes."""
    for door in doors:
        if kind == ALL_LOST:
            door.close()
        elif kind == ALL_BACK:
            door.open()
        else:
            door.storm(blows=kind == STORM)
