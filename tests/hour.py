"""
An hour of the rehearsal's fleet at a fixed time: always the same lines and rollups.

The lines come from the rehearsal's past, the rollups from the real intake and close.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from functools import cached_property, partial
from typing import TYPE_CHECKING

from aggregator.arrivals import LogLine
from aggregator.close.run import CloseRun
from aggregator.environment import Rules
from aggregator.ingest.intake import take_in
from aggregator.settle.purchases import packed_parts
from aggregator.settle.run import SettleRun
from aggregator.storage.ledger_objects import LedgerObjects
from local.rehearsal.live_fleet import REHEARSED_FLEET
from local.rehearsal.past import Past
from proof.memory_table import MemoryTable

if TYPE_CHECKING:
    from pathlib import Path

    from local.rehearsal.live_fleet import FleetInstance

HOUR_START_S = int(datetime(2026, 11, 20, 8, tzinfo=timezone.utc).timestamp())
RECORDED_MINUTES = 60
HOUR_END_S = HOUR_START_S + RECORDED_MINUTES * 60


@dataclass(frozen=True)
class RecordedHour:
    """
    Ten instances in two clusters, from `START_S` to `END_S`.

    Attributes:
        folder: Folder with the lines in `records.jsonl` and the rollups in `rollups.jsonl`.
    """

    folder: Path

    @property
    def records_file(self) -> Path:
        return self.folder / "records.jsonl"

    @property
    def rollups_file(self) -> Path:
        return self.folder / "rollups.jsonl"

    @cached_property
    def lines(self) -> list[str]:
        """The emitters' lines, minute by minute: minute lines and runtime lines."""
        return self.records_file.read_text("utf-8").splitlines()

    @cached_property
    def rollups(self) -> list[str]:
        """The lines that close printed about clusters and instance types, in order."""
        return self.rollups_file.read_text("utf-8").splitlines()

    @cached_property
    def ledger(self) -> dict[str, bytes]:
        """The objects that settle wrote, by key."""
        files = (path for path in (self.folder / "ledger").rglob("*.gz"))
        return {path.relative_to(self.folder).as_posix(): path.read_bytes() for path in files}


def make(folder: Path) -> RecordedHour:
    """Simulate, replay and close the hour, which takes about five seconds."""
    lines = sorted(
        (
            line
            for member in REHEARSED_FLEET
            for line in lines_of(member, folder, HOUR_START_S, RECORDED_MINUTES)
        ),
        key=timestamp_ms,
    )
    (folder / "records.jsonl").write_text("".join(f"{line}\n" for line in lines), "utf-8")
    table, rollups = _closed(lines)
    (folder / "rollups.jsonl").write_text("".join(f"{line}\n" for line in rollups), "utf-8")
    _settle(table, folder)
    return RecordedHour(folder)


class _Objects(LedgerObjects):
    """A folder as the ledger's bucket."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder

    def put(self, key: str, payload: bytes) -> None:
        file = self._folder / key
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(payload)


def _settle(table: MemoryTable, folder: Path) -> None:
    outcome = SettleRun(
        table=table,
        rules=Rules(),
        ask_ec2=lambda: packed_parts({}),
        now_s=lambda: float(HOUR_END_S),
        remaining_s=lambda: 900.0,
        connect=lambda: (table, _Objects(folder)),
    ).run(HOUR_START_S // 3600)
    assert outcome.hours_settled == 1


def rollups_of(lines: list[str]) -> list[str]:
    """Return the lines that close prints if *lines* arrive in time, minute by minute."""
    return _closed(lines)[1]


def _closed(lines: list[str]) -> tuple[MemoryTable, list[str]]:
    by_minute: dict[int, list[str]] = {}
    for line in lines:
        if '"Kind":"minute"' in line:  # the subscription's filter
            by_minute.setdefault(timestamp_ms(line) // 60_000, []).append(line)
    table = MemoryTable()
    rules = Rules()
    printed = []
    for minute, texts in sorted(by_minute.items()):
        taken_s = minute * 60 + 70.0
        events = [LogLine(str(number), text) for number, text in enumerate(texts)]
        take_in(events, table, rules.late_minutes, partial(float, taken_s), in_packs=False)
        for closed_s in (minute * 60 + 110.0, minute * 60 + 185.0):
            CloseRun(
                table=table,
                rules=rules,
                emit=printed.append,
                now_s=partial(float, closed_s),
                remaining_s=lambda: 50.0,
            ).run()
    return table, printed


def lines_of(member: FleetInstance, folder: Path, start_s: int, minutes: int) -> list[str]:
    """Return an instance's lines of *minutes* from *start_s* on, without a clean shutdown."""
    past = Past(folder, start_s + minutes * 60, minutes)
    lines = [line for line in past.replayed(member) if timestamp_ms(line) < past.end_s * 1000]
    assert lines
    return lines


def timestamp_ms(line: str) -> int:
    document = json.loads(line)
    metadata = document if "Timestamp" in document else document["_aws"]
    timestamp: int = metadata["Timestamp"]
    return timestamp
