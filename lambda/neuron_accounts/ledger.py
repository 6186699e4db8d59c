"""
The ledger: the cores of each owner on an instance in an hour, as rows of gzipped JSON lines.

A row has whole numbers: micro-core-minutes, and billionths of a dollar. In a line they are
decimals, and an unknown value has no member. Objects are under
`ledger/schema=1/date=YYYY-MM-DD/hour=HH/`, eight for each hour, each with the instances of a fixed
group of buckets: an hour is settled if all eight exist, and equal rows give equal bytes.
"""

from __future__ import annotations

import gzip
import io
import json
import re
import zlib
from datetime import datetime, timezone
from functools import lru_cache
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_wire.line_members import BAD_MEMBER, NOT_JSON, WireFormatError, iso_minute
from neuron_wire.names import DAY_HOURS, HOUR_MINUTES, VERSION

if TYPE_CHECKING:
    from collections.abc import Iterable

PARTS_OF_HOUR: Final = 8
"""Objects of an hour. A constant, never a parameter: a repetition replaces each object."""

LEDGER_PREFIX: Final = f"ledger/schema={VERSION}/"

MINUTE_PLACES: Final = 6
USD_PLACES: Final = 9

LEDGER_TEXTS: Final = {
    "AccountId": "account_id", "Region": "region", "ClusterName": "cluster",
    "InstanceId": "instance_id", "InstanceType": "instance_type", "Lifecycle": "lifecycle",
    "CapacityReservationId": "capacity_reservation_id", "Owner": "owner", "Team": "team",
}  # fmt: skip
"""Members that are text, in the order of the line, and their fields."""

LEDGER_MINUTES: Final = {
    "AllocatedCoreMinutes": "allocated",
    "BusyCoreMinutes": "busy",
    "UsedCoreMinutes": "used",
    "IdleCoreMinutes": "idle",
    "AvoidableCoreMinutes": "avoidable",
    "CommittedCoreMinutes": "committed",
    "UnpricedCoreMinutes": "unpriced",
    "CoveredMinutes": "covered",
}
"""Members in minutes, six places."""

LEDGER_COSTS: Final = {
    "ListCost": "list_cost",
    "IdleCost": "idle_cost",
    "AvoidableCost": "avoidable_cost",
    "CommittedCost": "committed_cost",
}
"""Members in USD, nine places."""

LEDGER_COUNTS: Final = {"Executions": "executions", "OverlapMinutes": "overlap_minutes"}
"""Members that are whole numbers."""

ABSENT_ZEROS: Final = frozenset({"avoidable", "committed", "unpriced", "committed_cost"})
"""Fields that a line has only above 0: in most rows all of them are 0."""

_HOUR: Final = re.compile(r"\d{4}-\d{2}-\d{2}T\d{2}:00Z")
_LEDGER_KEY: Final = re.compile(
    re.escape(LEDGER_PREFIX) + r"date=(\d{4}-\d{2}-\d{2})/hour=(\d{2})/part=(\d{2})\.json\.gz"
)


class LedgerRow(NamedTuple):
    """
    One owner of one instance in one hour.

    Attributes:
        hour: Whole hours between the Unix epoch and its start.

        owner: The owner's name, or `[unallocated]`, `[unknown]`, `[unnamed]`, `[others]`, `[not
            reported]`.

        team: The owner's team; None if unknown or not the same in all minutes.

        lifecycle: The purchasing option from EC2, otherwise from the instance.

        allocated: Micro-core-minutes that the owner held or had reserved, busy or not.

        busy: The allocated time in which the core was busy; None for `[unknown]`.

        used: Utilization of the allocated time, in micro-core-minutes; None for `[unknown]`.

        idle: The allocated time in which the core was idle, as in the rollups; None for
            `[unknown]`.

        avoidable: Idle time of minutes in which all cores of the instance were idle, and a stop
            saves money.

        committed: Idle time that is paid whether the instance runs or not.

        unpriced: Allocated time without a price; 0 if all allocated time has a price.

        covered: Minutes of the instance that samples cover, in millionths, the same in each of its
            rows.

        list_cost: The price of the allocated time, in billionths of a dollar; None without a price.

        idle_cost: The part of the list cost for idle cores.

        avoidable_cost: The part of the idle cost that ends, at most, when the instance stops.

        committed_cost: The part of the idle cost that is paid anyway. The remainder is shared.

        executions: The owner's executions that ended or failed; None if none of its minutes reports
            them.

        basis: The basis of the amounts; None without an amount.

        overlap_minutes: Minutes in which the instance also reported to another cluster, the same
            in each row of the instance and cluster; None up to `MAX_OVERLAP_MINUTES`.
    """

    hour: int
    cluster: str
    instance_id: str
    owner: str
    allocated: int
    covered: int
    busy: int | None = None
    used: int | None = None
    idle: int | None = None
    avoidable: int = 0
    committed: int = 0
    unpriced: int = 0
    list_cost: int | None = None
    idle_cost: int | None = None
    avoidable_cost: int | None = None
    committed_cost: int = 0
    executions: int | None = None
    basis: str | None = None
    account_id: str | None = None
    region: str | None = None
    instance_type: str | None = None
    lifecycle: str | None = None
    capacity_reservation_id: str | None = None
    team: str | None = None
    overlap_minutes: int | None = None


def decimal_text(whole: int, places: int) -> str:
    """
    Return *whole* smallest units as a decimal number: 1,500,000 with six places are `1.5`.

    >>> decimal_text(1_500_000, 6)
    '1.5'
    """
    digits = f"{abs(whole):0{places + 1}d}"
    text = f"{digits[:-places]}.{digits[-places:]}".rstrip("0").rstrip(".")
    return f"-{text}" if whole < 0 else text


def part_key(hour: int, part: int) -> str:
    """Return the key of one part of an hour."""
    text = iso_minute(hour * HOUR_MINUTES)
    return f"{LEDGER_PREFIX}date={text[:10]}/hour={text[11:13]}/part={part:02d}.json.gz"


def parse_part_key(key: str) -> tuple[int, int] | None:
    """
    Return the hour and the part in a key; None if it is not a key of the ledger.

    >>> parse_part_key("ledger/schema=1/date=2026-06-21/hour=00/part=03.json.gz")
    (495000, 3)
    """
    match = _LEDGER_KEY.fullmatch(key)
    try:
        return (_hour(f"{match[1]}T{match[2]}:00Z"), int(match[3])) if match else None
    except ValueError:
        return None


def day_prefixes(hours: range) -> list[str]:
    """Return the key prefixes of *hours*, one per day."""
    days = range(hours.start // DAY_HOURS, -(-hours.stop // DAY_HOURS))
    return [part_key(day * DAY_HOURS, 0).partition("/hour=")[0] + "/" for day in days]


def settled_hours(keys: Iterable[str], hours: range) -> list[int]:
    """Return those of *hours* whose eight objects are all among *keys*, ascending."""
    parts: dict[int, set[int]] = {}
    for key in keys:
        place = parse_part_key(key)
        if place is not None and place[0] in hours and place[1] < PARTS_OF_HOUR:
            parts.setdefault(place[0], set()).add(place[1])
    return sorted(hour for hour, found in parts.items() if len(found) == PARTS_OF_HOUR)


def row_line(row: LedgerRow) -> str:
    """Return one row as JSON."""
    members = [f'"Hour":"{iso_minute(row.hour * HOUR_MINUTES)}"']
    for member, field in LEDGER_TEXTS.items():
        if (text := getattr(row, field)) is not None:
            members.append(f'"{member}":{json.dumps(text)}')
    for table, places in ((LEDGER_MINUTES, MINUTE_PLACES), (LEDGER_COSTS, USD_PLACES)):
        for member, field in table.items():
            whole = getattr(row, field)
            if whole is not None and (whole or field not in ABSENT_ZEROS):
                members.append(f'"{member}":{decimal_text(whole, places)}')
    for member, field in LEDGER_COUNTS.items():
        if (count := getattr(row, field)) is not None:
            members.append(f'"{member}":{count}')
    if row.basis is not None:
        members.append(f'"Basis":{json.dumps(row.basis)}')
    return "{" + ",".join(members) + "}"


def pack_rows(rows: Iterable[LedgerRow]) -> bytes:
    """Return the object of some rows; equal rows in any order give equal bytes."""
    ordered = sorted(rows, key=lambda row: (row.cluster, row.instance_id, row.owner))
    return gzip_lines(map(row_line, ordered))


def gzip_lines(lines: Iterable[str]) -> bytes:
    """Return *lines* as an object; equal lines always give equal bytes."""
    file = io.BytesIO()
    with gzip.GzipFile(filename="", mode="wb", fileobj=file, mtime=0) as packer:
        for line in lines:
            packer.write(line.encode() + b"\n")
    return file.getvalue()


def unpack_lines(payload: bytes) -> str:
    """
    Return the text of one object.

    Raises:
        WireFormatError: If it is damaged.
    """
    try:
        return gzip.decompress(payload).decode()
    except (OSError, EOFError, ValueError, zlib.error) as error:
        raise WireFormatError(NOT_JSON, "an object of the ledger is damaged") from error


def parse_hour(value: object) -> int:
    """
    Return the hour in the member Hour.

    >>> parse_hour("2026-11-22T08:00Z")
    498704

    Raises:
        WireFormatError: If *value* is not a whole hour.
    """
    try:
        if isinstance(value, str) and _HOUR.fullmatch(value):
            return _hour(value)
    except ValueError:
        pass
    raise WireFormatError(BAD_MEMBER, "Hour of a row of the ledger cannot be")


@lru_cache(maxsize=1024)
def _hour(text: str) -> int:
    moment = datetime.strptime(text, "%Y-%m-%dT%H:%MZ").replace(tzinfo=timezone.utc)
    return int(moment.timestamp()) // (HOUR_MINUTES * 60)
