"""
The lines of a simulated fleet, as its emitters write them, and who has which fate.

The reports are the simulated neuron-monitor's and the lines the emitter's own
replay's; what happens to instances (restarts, kills, a second emitter beside
the first) is done to the reports and the runs, never to a line.
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timezone
from typing import TYPE_CHECKING

from emitter.replay import replay
from emitter.settings import ReplaySettings
from local.monitor.play import Play, run

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PERIOD_S = 15  # the longest the emitter asks for
REPORTS_A_MINUTE = 60 // PERIOD_S
KINDS_OF_INSTANCES = (
    ("trn1.2xlarge", "half-idle"),
    ("inf2.xlarge", "busy"),
    ("inf2.8xlarge", "low"),
    ("trn1.32xlarge", "busy"),
    ("inf2.24xlarge", "idle"),
    ("inf2.xlarge", "errors"),
    ("trn1.2xlarge", "empty"),
    ("inf2.48xlarge", "multi-runtime"),
    ("trn2.3xlarge", "busy"),
)
CLUSTERS = ("research", "serving", "training")
FATES = ("plain", "restarted", "plain", "killed", "plain", "two emitters", "plain", "plain")


@dataclass(frozen=True)
class Instance:
    """
    One simulated instance.

    Attributes:
        number: From 0; chooses everything else.
    """

    number: int

    @property
    def cluster(self):
        return CLUSTERS[self.number % len(CLUSTERS)]

    @property
    def fate(self):
        return FATES[self.number % len(FATES)]

    def reports(self, folder: Path, count: int) -> list[bytes]:
        """Its first *count* reports, a line each."""
        instance_type, scenario = KINDS_OF_INSTANCES[self.number % len(KINDS_OF_INSTANCES)]
        path = folder / f"{self.number}.reports"
        play = Play(
            instance_type=instance_type,
            scenario=scenario,
            seed=self.number,
            period_s=PERIOD_S,
            reports=count,
            start_ms=0,
        )
        with path.open("wb") as file:
            run(play, file.fileno())
        return path.read_bytes().splitlines(keepends=True)

    def lines(self, folder: Path, start_s: int, minutes: int) -> Iterator[str]:
        """
        What its emitters wrote in the *minutes* from *start_s* on.

        One minute more is simulated and not told: nobody says goodbye at the end.
        """
        reports = self.reports(folder, (minutes + 1) * REPORTS_A_MINUTE)
        middle = len(reports) // 2 - 1  # within a minute
        parts = [(reports, start_s)]
        if self.fate in ("restarted", "killed"):
            parts = [(reports[:middle], start_s), (reports[middle:], start_s + middle * PERIOD_S)]
        elif self.fate == "two emitters":
            parts.append((reports, start_s + 1))
        for number, (part, part_start_s) in enumerate(parts):
            written = list(self._written(folder, part, part_start_s))
            if self.fate == "killed" and number == 0:
                written = [line for line in written if '"Bye":true' not in line]
            yield from written

    def _written(self, folder: Path, reports: list[bytes], start_s: float) -> Iterator[str]:
        path = folder / f"{self.number}.part"
        path.write_bytes(b"".join(reports))
        start = datetime.fromtimestamp(start_s + 0.5, timezone.utc).isoformat()
        settings = ReplaySettings(
            cluster=self.cluster, interval=float(PERIOD_S), start=start, metrics="none"
        )
        yield from replay([path], settings)
        path.unlink()
