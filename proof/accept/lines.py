"""
The lines of two clusters, as their emitters write them, and one that a later emitter may write.

The reports are the simulated neuron-monitor's and the lines the emitter's own
replay's; a restart is done to the reports, never to a line.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING, Final

from emitter.replay import replay
from emitter.settings import ReplaySettings
from emitter.spool.records import SpooledRecord
from local.monitor.play import Play, run
from neuron_wire import MinuteRecord, parse

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

PERIOD_S: Final = 15  # the longest the emitter asks for
NEWER: Final = "newer"


@dataclass(frozen=True)
class Instance:
    """
    One simulated instance.

    Attributes:
        name: Also of its log stream.

        is_restarted: Its emitter starts again in the middle of a minute.
    """

    name: str
    cluster: str
    instance_type: str
    scenario: str
    is_restarted: bool = False

    def records(self, folder: Path, start_s: int, minutes: int) -> list[SpooledRecord]:
        """
        Its minute lines from *start_s* on.

        One minute more is simulated and not told: nobody says goodbye at the end.
        """
        reports = self._reports(folder, (minutes + 1) * 60 // PERIOD_S)
        middle = len(reports) // 2 - 1  # within a minute
        parts = [(reports, start_s)]
        if self.is_restarted:
            parts = [(reports[:middle], start_s), (reports[middle:], start_s + middle * PERIOD_S)]
        end_ms = (start_s + 60 * minutes) * 1000
        return [
            one
            for part, part_start_s in parts
            for one in records_of(self._written(folder, part, part_start_s))
            if one.timestamp_ms < end_ms
        ]

    def _reports(self, folder: Path, count: int) -> list[bytes]:
        path = folder / f"{self.name}.reports"
        play = Play(
            instance_type=self.instance_type, scenario=self.scenario, seed=len(self.name),
            instance_id=f"i-{self.name.encode().hex()[:17]:0>17}", period_s=PERIOD_S,
            reports=count, start_ms=0,
        )  # fmt: skip
        with path.open("wb") as file:
            run(play, file.fileno())
        return path.read_bytes().splitlines(keepends=True)

    def _written(self, folder: Path, reports: list[bytes], start_s: float) -> list[str]:
        path = folder / f"{self.name}.part"
        path.write_bytes(b"".join(reports))
        start = datetime.fromtimestamp(start_s + 0.5, timezone.utc).isoformat()
        settings = ReplaySettings(cluster=self.cluster, interval=float(PERIOD_S), start=start)
        return [*replay([path], settings)]


def two_clusters(run_id: str) -> list[Instance]:
    """Two instances each: idle and busy, half idle with a restart, and one with errors."""
    return [
        Instance("idle", f"{run_id}-a", "trn1.2xlarge", "idle"),
        Instance("busy", f"{run_id}-a", "inf2.8xlarge", "busy"),
        Instance("half-idle", f"{run_id}-b", "trn1.2xlarge", "half-idle", is_restarted=True),
        Instance("errors", f"{run_id}-b", "inf2.xlarge", "errors"),
    ]


def records_of(lines: Iterable[str]) -> list[SpooledRecord]:
    """The minute lines among *lines*, as the emitter's delivery takes them."""
    parsed = [(parse(line), line) for line in lines]
    return [
        SpooledRecord(place, one.boot, one.seq, one.minute_ms, line)
        for place, (one, line) in enumerate(parsed, 1)
        if isinstance(one, MinuteRecord)
    ]


def newer_schema(line: str) -> str:
    """A line as a later emitter may write it, of an instance that no other line names."""
    return json.dumps({**json.loads(line), "Schema": 2, "Boot": "f" * 20, "InstanceId": NEWER})
