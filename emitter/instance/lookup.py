"""
The facts of this instance, found in the background and never waited for by the reader.

The board's id is there at once. A thread asks the metadata service, again after
a while if it did not answer: right after the boot of an instance, or beside a
proxy that starts later, it may be silent for minutes.
"""

from __future__ import annotations

import logging
import os
import threading
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.backoff import Backoff
from emitter.instance.facts import InstanceFacts
from emitter.instance.identity import ask
from emitter.instance.machine import board_instance_id
from emitter.instance.metadata_service import MetadataError, MetadataService

if TYPE_CHECKING:
    from collections.abc import Iterable

SHORTEST_WAIT_S: Final = 1.0
LONGEST_WAIT_S: Final = 300.0
FIRST_TRY_S: Final = 2.5
"""How long it is worth to wait for the first try: a little more than it can take."""

_log = logging.getLogger(__name__)


class BackgroundLookup:
    """
    Asks until the metadata service has named the instance, or until closed.

    The board's id is that of the first of *roots* that has one.

    Attributes:
        facts: What is known so far; one reference, replaced whole, which needs no lock.
    """

    def __init__(
        self,
        service: MetadataService | None = None,
        *,
        roots: Iterable[Path] = (Path("/"),),
        backoff: Backoff | None = None,
    ) -> None:
        self._service = service or MetadataService.from_environment(os.environ)
        self._backoff = backoff or Backoff(SHORTEST_WAIT_S, LONGEST_WAIT_S)
        boards = filter(None, map(board_instance_id, roots))
        self.facts = InstanceFacts(instance_id=next(boards, None))
        self._tried = threading.Event()
        self._closed = threading.Event()
        if self._service.disabled:
            self._tried.set()
            return
        threading.Thread(target=self._look, name="instance-facts", daemon=True).start()

    def wait(self, timeout_s: float = FIRST_TRY_S) -> InstanceFacts:
        """What is known once the first try is over, or *timeout_s* has passed."""
        self._tried.wait(timeout_s)
        return self.facts

    def close(self) -> None:
        """Ask no more. A question under way ends by itself and delays nobody."""
        self._closed.set()
        self._tried.set()

    def _look(self) -> None:
        while not self._closed.is_set():
            try:
                facts = ask(self._service)
            except MetadataError as error:
                _log.debug("instance metadata service not available", extra={"why": str(error)})
            else:
                # What answers without an id may be known later; the rest holds already.
                known = facts.instance_id or self.facts.instance_id
                self.facts = replace(facts, instance_id=known)
                if facts.instance_id:
                    self._tried.set()
                    return
            self._tried.set()
            self._closed.wait(self._backoff.next_s())
