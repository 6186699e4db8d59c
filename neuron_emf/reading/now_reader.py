"""
The current state of an account, a rehearsal or files, as one JSON value.

`page` serves the answer and `top` prints it. It comes from the newest rollup lines. If the log
group of rollups does not exist, because emitters run without a stack, it comes from minute lines.

A number that lines lack is None, shown as "Not reported".
"""

from __future__ import annotations

import math
import threading
from typing import TYPE_CHECKING, Any, Final

from neuron_accounts.core_time import DEFAULT_IDLE_AFTER_MINUTES
from neuron_accounts.prices import UNKNOWN_TYPE_REASON
from neuron_emf.account import error_code
from neuron_emf.command_options import prices
from neuron_emf.reading import LogGroup, lines_in, pattern_of
from neuron_emf.reading.rollup_lines import FOLDED_MINUTES, NewestMinutes, Now, RollupLines
from neuron_emitter.delivery.aws_failures import NOT_FOUND
from neuron_emitter.errors import SourceError
from neuron_wire.names import DAY_HOURS, HOUR_MINUTES, MICRO, MINUTE_MS
from neuron_words.name_words import safe_name
from neuron_words.now_words import (
    ALLOCATION_UNKNOWN,
    NO_OWNERS,
    avoidable_parts_words,
    fully_idle_words,
    idle_words,
    in_other_clusters_words,
    owner_words,
    price_overrides_line,
    unknown_words,
    unpriced_words,
)
from neuron_words.quantity_words import (
    amount,
    counted,
    coverage_words,
    dollars,
    duration,
    joined,
    per_hour,
    share_words,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from neuron_accounts.now import ClusterNow, IdleOwner
    from neuron_emf.account import Account
    from neuron_wire.line_members import JsonObject

ROLLUP_LOOKBACK_MINUTES: Final = 15
"""The minutes of the first reading: enough for the first screen."""

OLD_MINUTES: Final = 10
"""The age from which rollups are old. They usually arrive after two to four minutes."""

AGAIN_MINUTES: Final = 5
KEPT_MINUTES: Final = DAY_HOURS * HOUR_MINUTES
STEP_MINUTES: Final = 60
"""The minutes that one step of `extend` reads if a person watches it."""

_PAGE_BYTES: Final = 1_000_000  # of lines in one answer of FilterLogEvents, at most
ROLLUP_AHEAD_MS: Final = 2 * MINUTE_MS  # clocks differ
FOLDED: Final = "Read from minute lines of emitters, without a stack: silent instances are unknown."
NO_ROLLUP: Final = f"No rollup in the last {ROLLUP_LOOKBACK_MINUTES} minutes"
NOT_REPORTED: Final = "Not reported"


class NowReader:
    """The reader of an account's log groups; safe to use from several threads."""

    def __init__(
        self,
        account: Account,
        logs: Any,  # noqa: ANN401  # a boto3 client
        now_ms: Callable[[], int],
        idle_after_minutes: int = DEFAULT_IDLE_AFTER_MINUTES,
    ) -> None:
        """Read nothing yet. *logs* is a client of *account*."""
        self.lines = RollupLines()
        self._account = account
        self._groups = [LogGroup(account, account.rollups_log_group, logs) for _ in range(2)]
        self._records = LogGroup(account, account.log_group, logs)
        self._now_ms = now_ms
        self._idle_after_minutes = idle_after_minutes
        self._folded: Now | None = None
        self._read_ms = 0  # never
        self._from_ms = 0
        self._reading = threading.Lock()  # of what is newest
        self._extending = threading.Lock()

    def refresh(self) -> int:
        """
        Read new lines at most once a minute. Return the time of the last reading in milliseconds.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        with self._reading:
            now_ms = self._now_ms()
            start_ms = start_of_reading(now_ms, self._read_ms, ROLLUP_LOOKBACK_MINUTES)
            if start_ms is not None:
                start_ms = start_ms // MINUTE_MS * MINUTE_MS
                try:
                    self.lines.fold_lines(
                        self._groups[0].read_lines(start_ms, now_ms + ROLLUP_AHEAD_MS)
                    )
                    self._folded = None
                except SourceError as error:
                    if error_code(error.__cause__) != NOT_FOUND:
                        raise
                    self._folded = self._fold(now_ms)
                oldest_ms = (now_ms // MINUTE_MS - KEPT_MINUTES) * MINUTE_MS
                self._from_ms = max(self._from_ms or start_ms, oldest_ms)
                self._read_ms = now_ms
                self.lines.forget_before(oldest_ms)
            return self._read_ms

    def extend(self, start_ms: int) -> int:
        """
        Read back to *start_ms*. Return the time from which everything is known, in milliseconds.

        Raises:
            SourceError: If CloudWatch Logs refuses or does not answer.
        """
        with self._extending:
            wanted_ms = max(start_ms, self._now_ms() - KEPT_MINUTES * MINUTE_MS)
            wanted_ms = wanted_ms // MINUTE_MS * MINUTE_MS
            if wanted_ms < self._from_ms and self._folded is None:
                self.lines.fold_lines(self._groups[1].read_lines(wanted_ms, self._from_ms))
                self._from_ms = wanted_ms
            return self._from_ms

    def remaining(self, start_ms: int) -> JsonObject | None:
        """Return the minutes from *start_ms* on that are to be read with their calls, or None."""
        minutes = (self._from_ms - start_ms) // MINUTE_MS
        if minutes <= 0 or self._folded is not None:
            return None
        read = max(1, (self._read_ms - self._from_ms) // MINUTE_MS)
        pages = self._groups[0].bytes_read / read / _PAGE_BYTES
        calls = -(-minutes // STEP_MINUTES) + math.ceil(minutes * pages)
        return {"from_ms": self._from_ms, "minutes": minutes, "calls": calls}

    @property
    def version(self) -> tuple[int, ...]:
        """A value that changes with every reading of new lines."""
        return (self.lines.changes, self._from_ms, self._read_ms)

    def now(self) -> Now:
        """Return the current state as of the last reading."""
        return self._folded or self.lines.now()

    @property
    def traffic(self) -> tuple[int, int]:
        """The number of calls, and the bytes of lines."""
        groups = (*self._groups, self._records)
        return sum(group.calls for group in groups), sum(group.bytes_read for group in groups)

    def _fold(self, now_ms: int) -> Now:
        minutes = NewestMinutes()
        start_ms = now_ms - FOLDED_MINUTES * MINUTE_MS
        lines = self._records.read_lines(start_ms // MINUTE_MS * MINUTE_MS, now_ms, pattern_of())
        for _ in minutes.fold_lines(lines):
            pass
        return minutes.now(prices("", self._account.region), self._idle_after_minutes)


def start_of_reading(now_ms: int, last_ms: int, first_minutes: int) -> int | None:
    """
    Return the start of the next reading; None less than a minute after *last_ms*.

    The first reading, with *last_ms* 0, goes back *first_minutes*. Later readings repeat the newest
    minutes and leave no gap after a pause.
    """
    if not last_ms:
        return now_ms - first_minutes * MINUTE_MS
    if 0 <= now_ms - last_ms < MINUTE_MS:
        return None
    return min(now_ms, last_ms) - AGAIN_MINUTES * MINUTE_MS


def now_of_files(paths: Sequence[Path]) -> Now:
    """
    Return the state from the newest rollups in *paths*, or from minute lines without rollups.

    Raises:
        SettingsError: If a file cannot be opened.
        SourceError: If a file cannot be read.
    """
    rollups = RollupLines()
    minutes = NewestMinutes()
    rollups.fold_lines(minutes.fold_lines(lines_in(paths)))
    now = rollups.now()
    return now if now.clusters else minutes.now(prices(""), DEFAULT_IDLE_AFTER_MINUTES)


def answer_of(now: Now, cluster: str, now_ms: int) -> JsonObject:
    """Return the answer about *now* at *now_ms*; an empty *cluster* means all clusters."""
    shown = now.of_cluster(cluster) if cluster else now
    total = shown.total
    data_to_ms = None if total.minute is None else (total.minute + 1) * MINUTE_MS
    age_minutes = None if data_to_ms is None else max(0, now_ms - data_to_ms) // MINUTE_MS
    none = NO_ROLLUP if total.minute is None else NOT_REPORTED
    coverage, silent = _status(total)
    return {
        "schema": 1,
        "cluster": cluster,
        "clusters": [_cluster(row) for row in now.clusters],
        "now_ms": now_ms,
        "source": "minutes" if now.is_folded else "rollups",
        "notes": [FOLDED] if now.is_folded else [],
        "minute_ms": None if total.minute is None else total.minute * MINUTE_MS,
        "data_to_ms": data_to_ms,
        "age_minutes": age_minutes,
        "is_old": age_minutes is not None and age_minutes > OLD_MINUTES,
        "instances": total.instances,
        "silent": total.silent,
        "coverage_percent": total.coverage_percent,
        "words": {
            "data": NO_ROLLUP if data_to_ms is None else "",
            "coverage": coverage,
            "silent": silent,
        },
        "idle": _idle(total, none),
        "cost": _cost(total, none),
        "avoidable": _avoidable(total, none),
        "utilization": _utilization(total, none),
        "teams": sorted({row.team for _, row in now.owners if row.team}),
        "owner_names": [
            {
                "owner": row.owner,
                "cluster": place.cluster,
                "team": row.team,
                "name": NO_OWNERS.get(row.owner, row.owner),
            }
            for place, row in now.owners
        ],
        "owners": [_owner(*pair) for pair in shown.owners],
        "owners_known": total.owners_known,
    }


def _idle(now: ClusterNow, none: str) -> JsonObject:
    words = idle_words(now)
    allocated = "Allocation not reported"
    unknown = ""
    if now.allocated is not None and now.unallocated is not None:
        allocated = f"{amount(now.allocated)} allocated, {amount(now.unallocated)} unallocated"
        if now.unknown_allocation:
            cores = amount(now.unknown_allocation)
            allocated += f", {cores} {ALLOCATION_UNKNOWN}"
    if now.unknown:
        unknown = unknown_words(now.unknown, now.unknown_by_reason, ", not counted")
    return {
        "cores": now.idle,
        "known_cores": now.known,
        "unknown_cores": now.unknown,
        "unknown_by_reason": dict(now.unknown_by_reason),
        "percent": now.idle_percent,
        "allocated_cores": now.allocated,
        "unallocated_cores": now.unallocated,
        "unknown_allocation_cores": now.unknown_allocation,
        "words": words or none,
        "notes": _notes(words and allocated, unknown),
    }


def _cost(now: ClusterNow, none: str) -> JsonObject:
    words = per_hour(now.cost)
    basis = safe_name(now.basis, 200)
    unpriced = unpriced_words(now)
    line = price_overrides_line(now.unpriced_types) if unpriced else ""
    has_no_type = any(name.endswith(UNKNOWN_TYPE_REASON) for name in now.unpriced_types)
    return {
        "usd_per_hour": _whole(now.cost),
        "shared_usd_per_hour": _whole(now.shared),
        "committed_usd_per_hour": _whole(now.committed),
        "basis": basis,
        "unpriced_cores": now.unpriced,
        "idle_unpriced_cores": now.idle_unpriced,
        "is_incomplete": bool(unpriced),
        "unpriced_types": list(now.unpriced_types),
        "words": words or none,
        "notes": _notes(
            basis,
            words and _parts_words(now),
            unpriced,
        ),
        "advice": "; ".join(
            _notes(
                line and f"set {line}",
                "run emitters of unknown type with --instance-type" if has_no_type else "",
            )
        ),
    }


def _avoidable(now: ClusterNow, none: str) -> JsonObject:
    words = per_hour(now.avoidable)
    at_most = ""
    if now.avoidable is not None and now.cost:
        at_most = (
            f"at most, {share_words(100 * now.avoidable / now.cost)} of the cost of idle cores"
        )
    notes = (
        at_most,
        fully_idle_words(now),
        avoidable_parts_words(now),
        in_other_clusters_words(now),
    )
    return {
        "usd_per_hour": _whole(now.avoidable),
        "allocated_usd_per_hour": _whole(now.avoidable_allocated),
        "unallocated_usd_per_hour": _whole(now.avoidable_unallocated),
        "instances": now.fully_idle_instances,
        "words": words or none,
        "notes": _notes(*notes) if words else [],
    }


def _utilization(now: ClusterNow, none: str) -> JsonObject:
    percent = now.utilization_percent
    words = ""
    if percent is not None and now.known is not None:
        words = f"{share_words(percent)} of {now.known:,} known cores"
    return {"percent": percent, "words": words or none, "notes": []}


def _parts_words(now: ClusterNow) -> str:
    """Return a text such as `of which 14.00 shared, 2.00 committed`, or an empty string."""
    parts = [(now.shared, "shared"), (now.committed, "committed")]
    named = [f"{dollars(cost / MICRO)} {name}" for cost, name in parts if cost]
    return f"of which {joined(named)}" if named else ""


def _status(now: ClusterNow) -> tuple[str, str]:
    """Return texts such as `Coverage 100 %` and `0 of 8 instances silent`."""
    percent = now.coverage_percent
    coverage = "unknown" if percent is None else coverage_words(percent)
    silent = "silent instances unknown"
    if now.silent is not None:
        instances = counted(now.silent + (now.instances or 0), "instance")
        silent = f"{amount(now.silent)} of {instances} silent"
    return f"Coverage {coverage}", silent


def _owner(place: ClusterNow, row: IdleOwner) -> JsonObject:
    since = None
    if place.minute is not None and row.minutes is not None:
        since = place.minute + 1 - row.minutes
    money = "no price" if row.cost is None else dollars(row.cost / MICRO)
    return {
        "owner": row.owner,
        "name": NO_OWNERS.get(row.owner, row.owner),
        "is_nobody": row.owner in NO_OWNERS,
        "team": row.team,
        "cluster": place.cluster,
        "cores": row.idle / MICRO,
        "instances": row.instances,
        "allocated_cores": _whole(row.allocated),
        "busy_cores": _whole(row.busy),
        "idle_minutes": row.minutes,
        "since_ms": None if since is None else since * MINUTE_MS,
        "usd_per_hour": _whole(row.cost),
        "unpriced_cores": row.unpriced / MICRO,
        "words": {
            "cores": amount(row.idle / MICRO),
            "uses": owner_words(row),
            "idle": "not reported" if row.minutes is None else duration(row.minutes),
            "usd": f"{money} +?" if row.unpriced and row.cost is not None else money,
        },
    }


def _cluster(now: ClusterNow) -> JsonObject:
    return {
        "cluster": now.cluster,
        "idle_cores": now.idle,
        "known_cores": now.known,
        "usd_per_hour": _whole(now.cost),
        "avoidable_usd_per_hour": _whole(now.avoidable),
        "coverage_percent": now.coverage_percent,
        "silent": now.silent,
    }


def _whole(micros: int | None) -> float | None:
    return None if micros is None else micros / MICRO


def _notes(*notes: str) -> list[str]:
    return [note for note in notes if note]
