"""
Waiting for the stack: until its functions have done what they were given to do.

Every wait is bounded and ends when somebody asks the rehearsal to stop.
"""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Final

from local.embedded_aws import EmbeddedAwsError
from local.rehearsal.verdict import against_truth
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Mapping

    from local.monitor.truth import Expected
    from local.rehearsal.figures import ClusterMinute
    from local.rehearsal.stack import DeployedStack
    from local.rehearsal.stage import Stage

INGEST_PATIENCE_S: Final = 60.0
CLOSES_AFTER_S: Final = 45  # after its end the close function takes a minute on, not before
CLOSE_AGAIN_S: Final = 5.0
SETTLED_S: Final = 15.0


def closable_minute(at_s: float) -> int:
    """The newest minute that close takes on at *at_s*, counted from the epoch."""
    return int(at_s - CLOSES_AFTER_S) // MINUTE_S - 1


def close_until(
    patience_s: float,
    expected: Mapping[ClusterMinute, Expected],
    stack: DeployedStack,
    stage: Stage,
    *,
    again_s: float = CLOSE_AGAIN_S,
) -> None:
    """
    Have minutes closed, each *again_s*, until every expected rollup is right.

    What is not right after *patience_s*, or when all are there and nothing
    new comes any more, is for the verdict to say.
    """
    started_s = news_s = time.monotonic()
    asked_s = started_s - again_s
    while against_truth(expected, stack.rollups.minutes):
        now_s = time.monotonic()
        settled = now_s - news_s > SETTLED_S and not expected.keys() - stack.rollups.minutes
        if settled or now_s - started_s > patience_s:
            return
        if now_s - asked_s >= again_s:
            asked_s = now_s
            stack.close_minutes()
        stage.wait(1.0)
        if stack.look():
            news_s = time.monotonic()


def wait_until_stored(records: int, stack: DeployedStack, stage: Stage) -> None:
    """
    Wait until ingest has stored *records*.

    Raises:
        EmbeddedAwsError: If it does not within `INGEST_PATIENCE_S`.
    """
    deadline = time.monotonic() + INGEST_PATIENCE_S
    while stack.stored_records() < records:
        if time.monotonic() > deadline:
            msg = (
                f"{records} lines were delivered, but ingest stored fewer within "
                f"{INGEST_PATIENCE_S:.0f} s"
            )
            raise EmbeddedAwsError(msg)
        stage.wait(0.1)
