"""The emitter beside what people run today, as rows of the table."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Final

from benchmarks.figure import Figure
from benchmarks.others.costs import BATCH_LINES, compared
from benchmarks.others.losses import USUAL, lost
from benchmarks.others.shippers import SEND_INTERVAL_S

if TYPE_CHECKING:
    from pathlib import Path

    from benchmarks.others.costs import Compared
    from benchmarks.others.losses import Arrived, Pace

MINUTES_AN_HOUR: Final = 60
_WIDTHS: Final = {"2": "4 KB", "32": "32 cores"}


def whole_minutes(folder: Path, rounds: int) -> list[Figure]:
    """A minute of reports by the emitter, and by an emitter that sends each report."""
    figures: list[Figure] = []
    for cores, size in _WIDTHS.items():
        printed = compared(f"printed-{cores}", folder / f"printed-{cores}", rounds)
        sent = compared(f"sent-{cores}", folder / f"sent-{cores}", rounds)
        figures += _printed(size, printed, rounds)
        figures += _sent(size, sent, rounds)
    return figures


def shipping(folder: Path, rounds: int) -> list[Figure]:
    """A minute line from a program to CloudWatch Logs, by the emitter and by watchtower."""
    single = compared("shipped-1", folder / "shipped-1", rounds)
    batch = compared("shipped-100", folder / "shipped-100", rounds)
    beside = f"watchtower; ours is on disk before it is sent; {rounds} rounds in turns"
    return [
        _processor("a minute line, sent by itself", single, beside),
        _processor(f"{BATCH_LINES} minute lines, sent in one call", batch, beside),
    ]


def losses(folder: Path, pace: Pace = USUAL, **variables: str) -> list[Figure]:
    """What is lost on the way; both ways at the same time, since both mostly wait."""
    with ThreadPoolExecutor() as pool:
        ours, theirs = (
            pool.submit(lost, way, folder / f"lost-{way}", pace, **variables)
            for way in ("ours", "watchtower")
        )
        return _losses(ours.result(), theirs.result(), pace.away_s)


def _losses(ours: Arrived, theirs: Arrived, away_s: float) -> list[Figure]:
    beside = f"watchtower, which sends every {SEND_INTERVAL_S} s here and every 60 s by default"
    handed = f"of {ours.handed} lines"
    ended = "in the outage that only ended"
    away = f"service away for {away_s:.0f} s, then back"
    rows = (
        (f"lost {handed}: {away}; away again, kill -9, restart", ours.lost, theirs.lost, 0),
        (f"lost {handed} {ended}", ours.lost_while_away, theirs.lost_while_away, 0),
        (f"arrived twice {handed}", ours.twice, theirs.twice, None),
    )
    return [
        Figure(what, value, "lines", limit, beside, reference)
        for what, value, reference, limit in rows
    ]


def _printed(size: str, found: Compared, rounds: int) -> list[Figure]:
    beside = "json.loads and aws-embedded-metrics, a document for each report"
    turns = f"{beside}; {rounds} rounds in turns"
    return [
        _processor(f"12 reports of {size}, to standard output", found, turns),
        _hourly(f"printed in an hour, reports of {size}", found, beside),
    ]


def _sent(size: str, found: Compared, rounds: int) -> list[Figure]:
    beside = "boto3, a PutMetricData call for each report"
    ours, theirs = (MINUTES_AN_HOUR * one for one in (found.ours_calls, found.theirs_calls))
    return [
        _processor(f"12 reports of {size}, sent", found, f"{beside}; {rounds} rounds in turns"),
        _hourly(f"sent in an hour, reports of {size}", found, f"{beside}; before TLS"),
        Figure(f"requests in an hour, reports of {size}", ours, "", None, beside, theirs),
    ]


def _processor(what: str, found: Compared, beside: str) -> Figure:
    """Both medians; what the table divides differs from the median of the pairs by noise alone."""
    pairs = f"{beside}, median of the pairs {found.ratio:.2f} x"
    return Figure(
        f"processor time of {what}", 1_000 * found.ours_s, "ms", None, pairs, 1_000 * found.theirs_s
    )


def _hourly(what: str, found: Compared, beside: str) -> Figure:
    ours, theirs = (MINUTES_AN_HOUR * one / 1_000 for one in (found.ours_bytes, found.theirs_bytes))
    return Figure(f"bytes {what}", ours, "KB", None, beside, theirs)
