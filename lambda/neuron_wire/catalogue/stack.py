"""What the stack says about itself, one count per invocation."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import ALWAYS, STACK, Member


def _of_ingest(name: str, meaning: str) -> Member:
    return Member(name, "Count", "tally", "ingest", "per delivery", meaning, (STACK,), ALWAYS)


def _of_close(name: str, meaning: str) -> Member:
    return Member(name, "Count", "tally", "close", "per run", meaning, (STACK,), ALWAYS)


def _of_settle(name: str, meaning: str) -> Member:
    return Member(name, "Count", "tally", "settle", "per run", meaning, (STACK,), ALWAYS)


def _of_explain(name: str, meaning: str) -> Member:
    return Member(name, "Count", "tally", "explain", "per alarm", meaning, (STACK,), ALWAYS)


STACK_MEMBERS: Final = (
    _of_ingest("RecordsRejected", "Lines dropped as unreadable."),
    _of_ingest("RecordsTooLate", "Records dropped: older than LateMinutes."),
    _of_ingest("DeliveriesUnreadable", "Kinesis records that hold no log lines, at each attempt."),
    _of_close("MinutesClosed", "Minutes closed for the first time."),
    _of_close("MinutesRestated", "Minutes reduced again for late records."),
    Member("MinutesWaiting", "Count", "gauge", "close", "per run", "Minutes left to the next run.",
           (STACK,), ALWAYS),
    _of_close("MinutesDropped", "Minutes given up: the pause too long, or too much to read."),
    _of_close("RecordsRead", "Records read, counting every reading."),
    _of_close("RecordsUnreadable", "Records in the table that could not be read."),
    _of_close("RecordsRefused", "Records in no rollup: over MaxClusters or another bound."),
    _of_close("LinesPrinted", "Lines of clusters and of instance types."),
    _of_close("LinesRefused", "Rollups dropped: not extractable."),
    Member("SecondsBehind", "Seconds", "gauge", "close", "per run",
           "Age of the end of the last closed minute.", (STACK,), ALWAYS, read_with="Maximum"),
    Member("HoursWaiting", "Count", "gauge", "settle", "per run",
           "Hours that are due and left to the next run.", (STACK,), ALWAYS,
           read_with="Maximum"),
    _of_settle("HoursDropped", "Hours not in the ledger: their minutes are gone."),
    _of_explain("MessagesSent", "Messages about an alarm published to the topic."),
    _of_explain("MessagesRepeated", "State changes already reported and delivered again."),
    Member("DeparturesMarked", "Count", "tally", "departure", "per event",
           "Instances that EC2 stopped or is stopping, each change of state.", (STACK,), ALWAYS),
    Member("StackName", "", "label", "stack", "once per line",
           "The CloudFormation stack, the dimension of these metrics.", (STACK,)),
)  # fmt: skip
