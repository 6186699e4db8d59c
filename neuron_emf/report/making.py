"""Make an idle report of what was asked for."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from emitter.errors import SourceError
from neuron_emf.account import account
from neuron_emf.prices import prices
from neuron_emf.report import clock, figures, gathering
from neuron_emf.report.comparison import compare
from neuron_emf.report.counting import Counting
from neuron_emf.report.insights import USD_PER_GB_SCANNED
from neuron_emf.report.outcome import outcome
from neuron_emf.report.period import ALWAYS, period
from neuron_emf.report.published import Published
from neuron_emf.report.settings import LINES, SINCE

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from neuron_emf.account import Account
    from neuron_emf.report.outcome import Outcome, Reading
    from neuron_emf.report.period import Period
    from neuron_emf.report.settings import IdleReportSettings


def make(settings: IdleReportSettings, files: Sequence[Path]) -> Outcome:
    """
    Read, count and compare.

    Raises:
        SettingsError: If a setting cannot be used.
        SourceError: If lines cannot be read, or there is none in the period.
    """
    made_ms = clock.now_ms()
    asked = _asked(settings, made_ms, has_files=bool(files))
    within = asked or _until(settings, made_ms)
    counting = Counting(
        within, settings.idle_after, prices(settings.price_overrides), settings.cluster
    )
    published = Published(within, settings.cluster)
    if files:
        reading = gathering.from_files(files, counting, published)
    else:
        reading = _of_account(settings, within, counting, published)
    if not counting.instances:
        raise SourceError(_nothing(settings, asked, reading))
    return outcome(
        counting,
        compare(counting, published, made_ms),
        reading,
        asked=asked,
        made_ms=made_ms,
        cluster=settings.cluster,
        idle_after_minutes=settings.idle_after,
        worst_cores=settings.rows,
    )


def _asked(settings: IdleReportSettings, now_ms: int, *, has_files: bool) -> Period | None:
    if has_files and not settings.since:
        return None
    return period(settings.since or SINCE, settings.until, now_ms)


def _until(settings: IdleReportSettings, now_ms: int) -> Period:
    return period("1970-01-01", settings.until, now_ms) if settings.until else ALWAYS


def _of_account(
    settings: IdleReportSettings, asked: Period, counting: Counting, published: Published
) -> Reading:
    found = account(settings)
    if found.is_rehearsal or settings.read == LINES:
        return gathering.from_lines(found, asked, settings.cluster, counting, published)
    _say_what_it_costs(found, asked)
    return gathering.from_queries(found, asked, settings.cluster, counting, published)


def _say_what_it_costs(found: Account, asked: Period) -> None:
    """Before, because afterwards it is paid."""
    if sys.stderr is not None:
        sys.stderr.write(
            f"Logs Insights scans {found.log_group} from {figures.moment(asked.start_ms)} to "
            f"{figures.moment(asked.end_ms)}, which CloudWatch bills at {USD_PER_GB_SCANNED} USD "
            "per GB (list price); --read lines costs nothing and takes longer.\n"
        )


def _nothing(settings: IdleReportSettings, asked: Period | None, reading: Reading) -> str:
    when = ""
    if asked is not None:
        when = f" from {figures.moment(asked.start_ms)} to {figures.moment(asked.end_ms)}"
    whose = f" of cluster {figures.name(settings.cluster)}" if settings.cluster else ""
    others = (
        f"{figures.counted(reading.outside, 'line')} of other times or clusters and "
        f"{figures.counted(reading.unreadable, 'line')} that could not be read"
    )
    return (
        f"minute lines{whose}{when} were expected in {reading.origin} and there is none, only "
        f"{others}: check --since, --until and --cluster, and that the emitters run"
    )
