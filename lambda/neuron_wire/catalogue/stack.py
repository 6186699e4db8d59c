"""
What the stack says about itself, one count per invocation.
"""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import ALWAYS, STACK, Member


def _of_ingest(name: str, meaning: str) -> Member:
    return Member(name, "Count", "tally", "ingest", "per delivery", meaning, (STACK,), ALWAYS)


def _of_close(name: str, meaning: str) -> Member:
    return Member(name, "Count", "tally", "close", "per run", meaning, (STACK,), ALWAYS)


STACK_MEMBERS: Final = (
    _of_ingest("RecordsStored", "Records put into the table."),
    _of_ingest("RecordsRejected", "Lines dropped as unreadable."),
    _of_ingest("RecordsTooLate", "Records dropped: older than LateMinutes."),
    _of_close("MinutesClosed", "Minutes closed for the first time."),
    _of_close("MinutesRestated", "Minutes reduced again for late records."),
    Member(
        "MinutesWaiting", "Count", "gauge", "close", "per run", "Minutes left to the next run.",
        (STACK,), ALWAYS,
    ),
    _of_close("MinutesDropped", "Minutes never closed: the pause was too long."),
    _of_close("RecordsRead", "Records read, counting every reading."),
    _of_close("RecordsUnreadable", "Items dropped: not records of ours."),
    _of_close("LinesPrinted", "Rollup lines."),
    _of_close("LinesRefused", "Rollups dropped: not extractable."),
    Member(
        "SecondsBehind", "Seconds", "gauge", "close", "per run",
        "Age of the end of the last closed minute.", (STACK,), ALWAYS, read_with="Maximum",
    ),
    Member(
        "StackName", "", "label", "stack", "once per line",
        "The CloudFormation stack, the dimension of these metrics.", (STACK,),
    ),
)  # fmt: skip
