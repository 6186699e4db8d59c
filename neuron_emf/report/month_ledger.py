"""
The ledgers of a month: their objects on this machine, and the hours that they have complete.

This module does not read rows.
"""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_accounts.ledger import LEDGER_PREFIX, day_prefixes, parse_part_key, settled_hours
from neuron_accounts.then import Then
from neuron_emf.reading.ledger_bucket import LedgerBucket, LedgerFolder, stack_ledger
from neuron_emf.reading.periods import WHOLE_TIME, month_period
from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire.line_members import WireFormatError
from neuron_wire.names import HOUR_MS

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from neuron_accounts.savings import ClusterHours
    from neuron_emf.account import Account

S3: Final = "s3://"
"""The start of an address; alone, as the value of `--bill`, the rehearsal's own export."""

SETTLED_ROW: Final = "[settled]"
MISSING_ROW: Final = "[missing]"


def ledgers_of(names: Sequence[str], connect: Callable[[], Account]) -> list[LedgerBucket]:
    """
    Return the ledgers of *names*, or the ledger of the stack if there is no name.

    *connect* returns the account, which folders do not need.

    Raises:
        SettingsError: If a name is neither a folder nor a bucket.
        SourceError: If the stack has no ledger.
    """
    ledgers: dict[str, LedgerBucket] = {}
    for name in names:
        bucket = name.removeprefix(S3).rstrip("/")
        if Path(name).is_dir():
            folder = Path(name).resolve()
            ledgers[str(folder)] = LedgerFolder(folder)
        elif "/" in bucket:
            msg = f"Invalid --ledger {name}. Use a folder, or the name of a bucket."
            raise SettingsError(msg)
        else:
            ledgers[bucket] = LedgerBucket(connect(), bucket)
    return list(ledgers.values()) or [stack_ledger(connect())]


def month_hours(month: str) -> range:
    """Return the hours of *month*, as whole hours since the epoch."""
    period = month_period(month, WHOLE_TIME.end_ms)
    return range(period.start_ms // HOUR_MS, period.end_ms // HOUR_MS)


class MonthOfLedger(NamedTuple):
    """
    The objects of one ledger in a month.

    Attributes:
        first_hour: The first hour of the ledger, before the month or in it.

        last_hour: The last hour in the month that has an object.

        settled: Hours of the month with all their objects.
    """

    first_hour: int
    last_hour: int
    settled: Sequence[int]


def month_files(ledger: LedgerBucket, month: str, folder: Path) -> tuple[list[Path], MonthOfLedger]:
    """
    Return the objects of a *month* as files, and which hours are complete.

    Objects of a bucket are fetched into *folder*.

    Raises:
        SettingsError: If the month has no object.
        SourceError: If S3 refuses or does not answer.
    """
    hours = month_hours(month)
    keys = [key for prefix in day_prefixes(hours) for key in ledger.list_keys(prefix)]
    with_object = [place[0] for place in map(parse_part_key, keys) if place is not None]
    if not with_object:
        msg = f"--ledger {ledger.name} has no hour of {month}. Name a bucket, or a copy of one."
        raise SettingsError(msg)
    earliest = parse_part_key(next(ledger.list_keys(LEDGER_PREFIX)))
    first_hour = min(with_object) if earliest is None else earliest[0]
    whole = settled_hours(keys, hours)
    files = ledger.copy_objects(keys, folder)
    return files, MonthOfLedger(first_hour, max(with_object), whole)


def cluster_hours(ledger: LedgerBucket, hours: range) -> ClusterHours:
    """Return the summaries of *hours* for savings; empty if a summary cannot be read."""
    then = Then()
    try:
        for hour, payload in ledger.read_summaries(hours):
            then.fold_summary(hour, payload)
    except (SourceError, WireFormatError):
        return {}
    return then.cluster_hours


def hour_labels(ledgers: Sequence[MonthOfLedger], hours: range) -> dict[int, str]:
    """
    Return `SETTLED_ROW` for each hour whose objects are all there, else `MISSING_ROW`.

    An hour is missing if one of *ledgers* begins before it and lacks an object. After the last hour
    of a ledger, another ledger may continue. If a ledger begins before *hours*, the hour before
    *hours* is labeled as settled too.
    """
    labels = {hour: SETTLED_ROW for ledger in ledgers for hour in ledger.settled}
    settled = {*labels}
    for ledger in ledgers:
        if ledger.first_hour < hours.start:
            labels[hours.start - 1] = SETTLED_ROW
        for hour in range(max(ledger.first_hour, hours.start), hours.stop):
            has_successor = hour > ledger.last_hour and hour in settled
            if hour not in ledger.settled and not has_successor:
                labels[hour] = MISSING_ROW
    return labels
