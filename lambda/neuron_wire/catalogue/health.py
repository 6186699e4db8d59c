"""What the emitter says about itself: amounts since its Boot, as of just before the line."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import Member
from neuron_wire.names import MINUTE, MORE

_SINCE: Final = "since Boot"
_NOW: Final = "at the close of the minute"
_RARE: Final = (MINUTE, MORE)


def _total(name: str, meaning: str) -> Member:
    return Member(name, "Count", "total", "emitter", _SINCE, meaning)


def _rare(name: str, meaning: str) -> Member:
    return Member(name, "Count", "total", "emitter", _SINCE, meaning, _RARE, is_rare=True)


def _now(name: str, meaning: str) -> Member:
    return Member(name, "Count", "gauge", "emitter", _NOW, meaning)


def _now_rare(name: str, meaning: str) -> Member:
    return Member(name, "Count", "gauge", "emitter", _NOW, meaning, _RARE, is_rare=True)


HEALTH: Final = (
    _total("ReportsRead", "neuron-monitor reports read."),
    _total("ReportsMalformed", "Pieces of input dropped because they were not reports."),
    _rare("PartsMalformed", "Parts of reports dropped because their values are impossible."),
    _rare("RuntimesGone", "Entries of reports left out because their process had ended."),
    _total("MonitorRestarts", "Times that neuron-monitor was started again after a failure."),
    _rare("RawReportsTooLarge",
          "Reports of --raw-reports that were not written: longer than a log event may be."),
    _rare("MinutesDropped", "Minutes dropped because their line could not be made or kept."),
    _rare("EventsDropped", "Events dropped because too many were waiting."),
    _rare("ReportLinesWithoutMetrics",
          "Lines of reports written without the metrics by --common-dims, because nobody told one "
          "of them within 3 s."),
    _total("RecordsProduced",
           "Lines written; always RecordsDelivered + SpoolRecords + RecordsDropped."),
    _total("RecordsDelivered", "Lines that the destination accepted."),
    _total("RecordsDropped", "Lines dropped, for all the reasons below together."),
    _now("SpoolRecords", "Lines of this Boot that wait in the spool."),
    Member("SpoolBytes", "Bytes", "gauge", "emitter", _NOW,
           "Size of all lines that wait in the spool."),
    _now_rare("SpoolRecordsOlder", "Lines of earlier Boots that wait in the spool."),
    _rare("RecordsDroppedOlder", "Lines of earlier Boots dropped, for any reason."),
    _now_rare("SpoolInMemory", "Lines that are only in memory because the disk refuses them."),
    _rare("SpoolsSetAside", "Damaged spool files set aside."),
    _rare("DroppedSpoolFull", "Lines dropped because the spool, or its part in memory, was full."),
    _rare("DroppedTooOld", "Lines dropped because they were too old for spool or destination."),
    _rare("DroppedTooNew", "Lines dropped because they were too far in the future."),
    _rare("DroppedTooLarge", "Lines dropped because they were larger than one call allows."),
    _rare("DroppedExpired", "Lines dropped because they were older than the group's retention."),
    _rare("DroppedInvalid", "Lines that the destination rejected even when sent alone."),
    _rare("DroppedDamaged", "Lines dropped because they were in a file that cannot be read."),
    Member("EmitterCpuSeconds", "Seconds", "total", "emitter", _SINCE,
           "CPU time of the emitter itself, without neuron-monitor."),
    Member("EmitterMemory", "Bytes", "gauge", "emitter", _NOW,
           "Resident memory of the emitter itself, without neuron-monitor.", read_with="Maximum"),
)  # fmt: skip
