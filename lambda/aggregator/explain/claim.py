"""
One message for one fact: who sends it, and who need not.

Idle cores, what they cost and low utilization of a cluster are one fact. Of their
alarms, the first to change claims the message of a quarter of an hour; one that changes to the
same state within that time is covered as soon as the message is out. Whoever is in doubt
sends: a claim is no promise, only a message that was sent is.
"""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Final

from aggregator.storage.values import Claim, TableError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aggregator.explain.event import Transition
    from aggregator.explain.explanation import Explanation
    from aggregator.storage.table import Table

WITHIN_MS: Final = 15 * 60_000
"""Transitions nearer than this are one fact."""

PATIENCE_S: Final = 20  # of the 60 that Lambda gives explain
_POLL_S: Final = 1.0
_TRIES: Final = 2  # to claim: whom somebody else forestalls finds whose claim it is


def pauses(
    clock: Callable[[], float] = time.monotonic, sleep: Callable[[float], None] = time.sleep
) -> Iterator[None]:
    """Look now, and every second for as long as a message is waited for."""
    until_s = clock() + PATIENCE_S
    yield
    while clock() < until_s:
        sleep(_POLL_S)
        yield


def topics_covered(
    explanation: Explanation,
    topics: Sequence[str],
    table: Table,
    expires_s: int,
    looks: Callable[[], Iterator[None]],
) -> tuple[Sequence[str], str]:
    """
    Those of *topics* that the message about another alarm has told, and what failed.

    *topics* are what stands behind a transition's identity where it is remembered as told.
    A message without the cluster's numbers covers nothing, so it claims nothing.
    """
    subject, told = explanation.subject, list[str]()
    if not topics or subject is None or not subject.is_idle or explanation.evidence.rollup is None:
        return (), ""
    try:
        claimer = _claimer(explanation.transition, table, expires_s)
        for _ in looks() if claimer else ():
            told = [topic for topic in topics if table.was_notified(claimer + topic)]
            if len(told) == len(topics):
                break
    except TableError as error:
        return (), str(error)
    return told, ""


def _claimer(transition: Transition, table: Table, expires_s: int) -> str:
    """The identity of the transition whose message covers *transition*; empty when its own does."""
    # A muted message does not reach who filters by Muted, so it covers only muted ones. An
    # alarm that rings after another one was over is news: one claim for all states, not one each.
    group = json.dumps([transition.cluster, bool(transition.muted_by)])
    own = Claim(transition.identity, transition.word, round(1000 * transition.at_s))
    for _ in range(_TRIES):
        held = table.read_claim(group)
        if held is not None and held.state == own.state and abs(held.at_ms - own.at_ms) < WITHIN_MS:
            return "" if held.identity == own.identity else held.identity
        if table.write_claim(group, own, held, expires_s):
            break
    return ""
