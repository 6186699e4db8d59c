"""What the stack says about itself, one line per invocation."""

from __future__ import annotations

from dataclasses import replace
from typing import Final

from neuron_wire.catalogue.member import ALWAYS, STACK, Member


def _gauge(name: str, unit: str, source: str, meaning: str, *, read_with: str = "") -> Member:
    return Member(name, unit, "gauge", source, "per run", meaning, (STACK,), read_with=read_with)


def _tally(name: str, source: str, meaning: str, *, unit: str = "Count") -> Member:
    return Member(name, unit, "tally", source, "per run", meaning, (STACK,))


_METRICS: Final = (
    _tally("MinutesClosed", "close", "Minutes closed for the first time."),
    _gauge("MinutesWaiting", "Count", "close", "Minutes left to the next run."),
    _gauge("HoursWaiting", "Count", "settle", "Hours that are due and left to the next run.",
           read_with="Maximum"),
    _tally("RecordsRejected", "ingest, close",
           "Lines dropped as unreadable by ingest, and RecordsRefused of close."),
    _tally("RecordsTooLate", "ingest", "Records dropped: older than LateMinutes."),
)  # fmt: skip

STACK_MEMBERS: Final = (
    *(replace(one, tier=ALWAYS) for one in _METRICS),
    _tally("RecordsStored", "ingest", "Records put into the table, where others were dropped."),
    _tally("DeliveriesUnreadable", "ingest",
           "Kinesis records that hold no log lines, at each attempt."),
    _tally("MinutesRestated", "close", "Minutes reduced again for late records."),
    _tally("MinutesDropped", "close", "Minutes given up: the pause too long, or too much to read."),
    _tally("RecordsRead", "close", "Records read, counting every reading."),
    _tally("RecordsUnreadable", "close", "Records in the table that could not be read."),
    _tally("RecordsRefused", "close", "Records in no rollup: over MaxClusters or another bound."),
    _tally("LinesPrinted", "close", "Rollups printed."),
    _tally("LinesRefused", "close", "Rollups dropped: not extractable."),
    _gauge("SecondsBehind", "Seconds", "close", "Age of the end of the last closed minute.",
           read_with="Maximum"),
    _tally("HoursSettled", "settle", "Hours put into the ledger."),
    _tally("HoursDropped", "settle", "Hours not in the ledger: their minutes are gone."),
    _tally("LedgerRows", "settle", "Rows put into the ledger."),
    _tally("LedgerBytes", "settle", "Bytes put into the ledger.", unit="Bytes"),
    Member("StackName", "", "label", "stack", "once per line",
           "The CloudFormation stack, the dimension of these metrics.", (STACK,)),
)  # fmt: skip
