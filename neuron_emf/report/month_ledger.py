"""
The ledgers of a month: their objects on this machine, and the hours that they have complete.

This module does not read rows.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.ledger import LEDGER_PREFIX, PARTS_OF_HOUR, day_prefixes, parse_part_key
from neuron_emf.reading.ledger_bucket import LedgerBucket
from neuron_emf.reading.periods import WHOLE_TIME, month_period
from neuron_emitter.errors import SettingsError
from neuron_wire.names import HOUR_MS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from neuron_emf.account import Account

S3: Final = "s3://"
SETTLED_ROW: Final = "[settled]"
MISSING_ROW: Final = "[missing]"


class LedgerFiles(NamedTuple):
    """
    The ledgers of a month, on this machine.

    Attributes:
        files: Objects, or files of rows.

        labels: `SETTLED_ROW` or `MISSING_ROW` for each hour; an hour without an entry is judged by
            its rows.
    """

    files: Sequence[Path]
    labels: Mapping[int, str]


def month_hours(month: str) -> range:
    """Return the hours of *month*, as whole hours since the epoch."""
    period = month_period(month, WHOLE_TIME.end_ms)
    return range(period.start_ms // HOUR_MS, period.end_ms // HOUR_MS)


@dataclass(frozen=True, slots=True)
class MonthOfLedger:
    """
    The objects of one ledger in a month.

    Attributes:
        first_hour: The first hour of the ledger, before the month or in it.

        parts: Numbers of its objects, by hour.
    """

    first_hour: int
    parts: Mapping[int, set[int]]


def hour_labels(ledgers: Sequence[MonthOfLedger], hours: range) -> dict[int, str]:
    """
    Return `SETTLED_ROW` for each of *hours* with all its objects, else `MISSING_ROW`.

    An hour is missing if one of *ledgers* begins before it and lacks an object. After the last hour
    of a ledger, another ledger may continue. If a ledger begins before *hours*, the hour before
    them is settled too.
    """
    settled = {
        hour
        for ledger in ledgers
        for hour, parts in ledger.parts.items()
        if len(parts) == PARTS_OF_HOUR
    }
    labels = dict.fromkeys(settled, SETTLED_ROW)
    for ledger in ledgers:
        if ledger.first_hour < hours.start:
            labels[hours.start - 1] = SETTLED_ROW
        last_hour = max(ledger.parts)
        for hour in range(max(ledger.first_hour, hours.start), hours.stop):
            is_whole = len(ledger.parts.get(hour, ())) == PARTS_OF_HOUR
            has_successor = hour > last_hour and hour in settled
            if not is_whole and not has_successor:
                labels[hour] = MISSING_ROW
    return labels


def ledger_files(places: Sequence[str], month: str, where: Account, folder: Path) -> LedgerFiles:
    """
    Return the objects of *month* in *places*, and the labels of its hours.

    Objects of buckets are fetched into *folder*. For a place that is one file, only the rows show
    which hours it has.

    Raises:
        SettingsError: If a place has none.
        SourceError: If S3 refuses or does not answer.
    """
    files: list[Path] = []
    ledgers: list[MonthOfLedger] = []
    for number, place in enumerate(places):
        path = Path(place)
        first_hour = None
        if place.startswith(S3) or not path.exists():
            path = folder / str(number)
            first_hour = _fetch_month(place, month_hours(month), where, path)
        objects = (
            [path] if path.is_file() else sorted(path.glob(f"**/date={month}-*/hour=*/part=*.gz"))
        )
        if not objects:
            msg = f"--ledger {place} has no hour of {month}. Name a bucket, or a copy of one."
            raise SettingsError(msg)
        files += objects
        roots = sorted({file.parents[2] for file in objects if file != path})
        ledgers += [_month_of_ledger(root, month, first_hour) for root in roots]
    return LedgerFiles(files, hour_labels(ledgers, month_hours(month)))


def _month_of_ledger(root: Path, month: str, first_hour: int | None) -> MonthOfLedger:
    """Return the objects of *month* of the ledger in *root*, with folders `date=YYYY-MM-DD`."""
    parts: dict[int, set[int]] = defaultdict(set)
    for file in root.glob(f"date={month}-*/hour=*/part=*.gz"):
        place = parse_part_key(LEDGER_PREFIX + file.relative_to(root).as_posix())
        if place is not None:
            parts[place[0]].add(place[1])
    if first_hour is None:
        earliest = min(root.glob("date=*/hour=*")).relative_to(root).as_posix()
        place = parse_part_key(f"{LEDGER_PREFIX}{earliest}/part=00.json.gz")
        first_hour = place[0] if place else min(parts)
    return MonthOfLedger(first_hour, parts)


def _fetch_month(place: str, hours: range, where: Account, folder: Path) -> int | None:
    """Fetch the objects of *hours* in a bucket into *folder*. Return the bucket's first hour."""
    bucket = LedgerBucket(where, place.removeprefix(S3).rstrip("/"))
    keys = [key for prefix in day_prefixes(hours) for key in bucket.list_keys(prefix)]
    objects = bucket.read_keys(enumerate(keys))
    for number, payload in objects:
        file = folder / keys[number]
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(payload)
    earliest = parse_part_key(next(bucket.list_keys(LEDGER_PREFIX), ""))
    return None if earliest is None else earliest[0]
