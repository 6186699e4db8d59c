"""
What a window shows at a moment: clusters, their instances, and the figures of each.

Figures add up as the rollups do it. What nobody knows is None: without a known core
there is no utilization, without a price there is no cost.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field, fields
from itertools import groupby
from typing import TYPE_CHECKING, Final

from neuron_emf.figures import idle_cores
from neuron_emf.payment import Saving, savings
from neuron_wire.names import ATTACHED_IDLE, BUSY, MINUTE_MS, MINUTE_S, UNATTACHED, UNKNOWN
from neuron_wire.peaks import Flops, flops_of
from neuron_wire.prices import PriceBasis, Prices

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_emf.top.window import Window
    from neuron_wire import MinuteRecord
    from neuron_wire.merging import InstanceMinute

REPORTING: Final = "reporting"
SILENT: Final = "silent"
STOPPED: Final = "stopped"

SILENT_AFTER_MINUTES: Final = 5  # as the stack has it unless told otherwise
ARRIVAL_S: Final = 90
"""Seconds after its end in which a minute arrives: sends are spread over 30, or tried again."""
_LARGEST: Final = "idle_minutes"
_SUMS_OF_CENTS: Final = 6  # decimals: no tail of binary noise


@dataclass(frozen=True, slots=True)
class Figures:
    """
    What there is to say of some instances.

    Attributes:
        instances: That report.

        silent: That reported before and do so no more.

        stopped: That shut down cleanly.

        duplicates: On which two emitters report.

        cores: Of those that report, as they tell it.

        busy: Cores at or above the busy threshold.

        attached_idle: Cores that are held, but not busy.

        unattached: Cores that are neither.

        unknown: Cores without telemetry; in no other figure.

        hundredths: Utilization of the known cores, added up, in hundredths of a percent.

        idle_cores: Known cores that have not been busy for long enough to be called idle.

        idle_minutes: Of the core that is idle for longest.

        idle_core_minutes: Of all idle cores, added up: how long they have been idle by now.

        held_usd: Price per hour of held idle cores that ends, at most, when instances stop.

        unheld_usd: The same of idle cores that nobody holds.

        shared_usd: Price per hour of idle cores beside cores that are not.

        sunk_usd: Price per hour of idle cores that are paid in any case.

        priced_known_cores: Known cores with a price.

        unpriced_cores: Cores of a type without a price in its region.

        unpriced_idle_cores: The idle ones among them; in no amount of USD.

        covered_s: Seconds that telemetry covers.

        tera_flops: Achieved 10^12 FLOP/s of instances that tell it and have a known chip.

        peak_micros: Their dense BF16 peak, millionths of a TFLOPS.
    """

    instances: int = 0
    silent: int = 0
    stopped: int = 0
    duplicates: int = 0
    cores: int = 0
    busy: int = 0
    attached_idle: int = 0
    unattached: int = 0
    unknown: int = 0
    hundredths: int = 0
    idle_cores: int = 0
    idle_minutes: int = 0
    idle_core_minutes: int = 0
    held_usd: float = 0.0
    unheld_usd: float = 0.0
    shared_usd: float = 0.0
    sunk_usd: float = 0.0
    priced_known_cores: int = 0
    unpriced_cores: int = 0
    unpriced_idle_cores: int = 0
    covered_s: float = 0.0
    tera_flops: float = 0.0
    peak_micros: int = 0

    @property
    def percent_of_peak(self) -> float | None:
        """FLOP/s over the dense BF16 peak; None where nobody tells any."""
        return Flops(self.tera_flops, self.peak_micros).percent_of_peak

    @property
    def known(self) -> int:
        """Cores with telemetry."""
        return self.busy + self.attached_idle + self.unattached

    @property
    def utilization_percent(self) -> float | None:
        """Mean over the known cores."""
        return self.hundredths / self.known / 100 if self.known else None

    @property
    def usd_per_hour(self) -> float | None:
        """Price of the idle cores; None when no known core has a price."""
        return self._priced(self.held_usd + self.unheld_usd + self.shared_usd + self.sunk_usd)

    @property
    def avoidable_usd_per_hour(self) -> float | None:
        """What of it ends, at most, when instances stop."""
        return self._priced(self.held_usd + self.unheld_usd)

    def _priced(self, usd: float) -> float | None:
        return round(usd, _SUMS_OF_CENTS) if self.priced_known_cores else None

    @property
    def coverage_percent(self) -> float | None:
        """Share of the minute that telemetry covers, over those that report and those silent."""
        expected = self.instances + self.silent
        return 100 * self.covered_s / (MINUTE_S * expected) if expected else None


def figures_of(
    minute: InstanceMinute,
    idle_after: int,
    prices: Prices,
    payment: Mapping[str, str] | None = None,
) -> Figures:
    """What one instance that reports did in its newest minute."""
    record = minute.record
    state = record.core_state
    idle = idle_cores(record, idle_after)
    price = prices.usd_per_core_hour(record.instance_type, len(state), record.region)
    known = len(state) - state.count(UNKNOWN)
    usd = dict.fromkeys(Saving, 0.0)
    for saving, count in Counter(savings(record, idle, payment or {}).values()).items():
        usd[saving] = (price or 0.0) * count
    flops = flops_of(record) or Flops(0.0, 0)
    return Figures(
        instances=1,
        duplicates=int(minute.duplicate_emitters),
        cores=len(state),
        busy=state.count(BUSY),
        attached_idle=state.count(ATTACHED_IDLE),
        unattached=state.count(UNATTACHED),
        unknown=len(state) - known,
        hundredths=sum(
            round(100 * percent) for percent in record.utilization_percent if percent is not None
        ),
        idle_cores=len(idle),
        idle_minutes=max((record.idle_minutes[core_index] for core_index in idle), default=0),
        idle_core_minutes=sum(record.idle_minutes[core_index] for core_index in idle),
        held_usd=usd[Saving.HELD],
        unheld_usd=usd[Saving.UNHELD],
        shared_usd=usd[Saving.SHARED],
        sunk_usd=usd[Saving.SUNK],
        priced_known_cores=0 if price is None else known,
        unpriced_cores=len(state) if price is None else 0,
        unpriced_idle_cores=len(idle) if price is None else 0,
        covered_s=record.covered_seconds,
        tera_flops=flops.tera_flops,
        peak_micros=flops.peak_micros,
    )


def total(all_of_them: Iterable[Figures]) -> Figures:
    """The figures of all of them together."""
    parts = list(all_of_them)
    sums = {
        member.name: sum(getattr(figures, member.name) for figures in parts)
        for member in fields(Figures)
    }
    sums[_LARGEST] = max((figures.idle_minutes for figures in parts), default=0)
    return Figures(**sums)


@dataclass(frozen=True, slots=True)
class InstanceSnapshot:
    """
    One instance as its newest minute shows it.

    Attributes:
        record: That minute, merged.

        status: `reporting`, `silent` or `stopped`.

        behind_minutes: Minutes that should have come since.

        figures: What counts of it; of one that does not report only that.
    """

    record: MinuteRecord
    status: str
    behind_minutes: int
    figures: Figures

    @property
    def instance_id(self) -> str:
        """Its name."""
        return self.record.instance_id

    @property
    def reports(self) -> bool:
        """Whether its newest minute says what it does now."""
        return self.status == REPORTING


@dataclass(frozen=True, slots=True)
class Cluster:
    """
    One cluster.

    Attributes:
        name: As log lines have it: printable ASCII.

        instances: All that are known of it, in order of their names.

        figures: Of all of them.
    """

    name: str
    instances: tuple[InstanceSnapshot, ...]
    figures: Figures


@dataclass(frozen=True, slots=True)
class FleetSnapshot:
    """
    All clusters.

    Attributes:
        as_of_ms: End of the newest minute that everybody should have told of.

        idle_after: Minutes after which a core that is not busy is idle.

        clusters: In order of their names.

        figures: Of all of them.

        prices: By which the figures are.
    """

    as_of_ms: int | None
    idle_after: int
    clusters: tuple[Cluster, ...] = ()
    figures: Figures = field(default_factory=Figures)
    prices: Prices = field(default_factory=Prices)

    def basis(self, cluster: str | None = None) -> PriceBasis:
        """What the amounts of *cluster*, or of all, are based on, and what has no price."""
        basis = PriceBasis()
        for each in self.clusters:
            for record in (one.record for one in each.instances if one.reports):
                if cluster in {None, each.name}:
                    basis.usd_per_core_hour(
                        self.prices, record.instance_type, len(record.core_state), record.region
                    )
        return basis


def fleet_of(
    window: Window,
    idle_after: int,
    prices: Prices | None = None,
    now_ms: int | None = None,
    payment: Mapping[str, str] | None = None,
) -> FleetSnapshot:
    """
    What *window* shows at *now_ms*, or without a clock at the end of its newest minute.

    *payment* says how instances are paid by type, where their lines do not.
    """
    newest_ms = window.newest_ms
    if newest_ms is None:
        return FleetSnapshot(None, idle_after)
    as_of_ms = newest_ms + MINUTE_MS
    if now_ms is not None:  # one instance whose clock is ahead does not make others silent
        as_of_ms = (now_ms - ARRIVAL_S * 1000) // MINUTE_MS * MINUTE_MS
    prices = prices or Prices()
    instances = [
        _instance(
            minute,
            as_of_ms,
            figures_of(minute, idle_after, prices, payment),
            is_now=now_ms is not None,
        )
        for minute in window.newest_minutes()
    ]
    clusters = tuple(
        _cluster(name, own)
        for name, own in groupby(instances, key=lambda instance: instance.record.cluster)
    )
    figures = total(one.figures for one in clusters)
    return FleetSnapshot(as_of_ms, idle_after, clusters, figures, prices)


def _instance(
    minute: InstanceMinute, as_of_ms: int, figures: Figures, *, is_now: bool
) -> InstanceSnapshot:
    behind = max(0, (as_of_ms - minute.record.minute_ms) // MINUTE_MS - 1)
    # In a file the last minute is what is looked at, and who replays one ends it with Bye.
    if minute.gone and (is_now or behind):
        return InstanceSnapshot(minute.record, STOPPED, behind, Figures(stopped=1))
    if behind >= SILENT_AFTER_MINUTES:
        return InstanceSnapshot(minute.record, SILENT, behind, Figures(silent=1))
    return InstanceSnapshot(minute.record, REPORTING, behind, figures)


def _cluster(name: str, instances: Iterable[InstanceSnapshot]) -> Cluster:
    own = tuple(instances)
    return Cluster(name, own, total(one.figures for one in own))
