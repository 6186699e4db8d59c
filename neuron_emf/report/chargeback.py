"""
Split a month's bill: DuckDB reads ledgers and bills, and one SQL statement splits the cost.

`chargeback.sql` has the rules of the split; Athena runs the same text. DuckDB reads only files of
this machine: boto3 fetches objects in S3 first, and no extension is ever loaded.
"""

from __future__ import annotations

import os
import re
import tempfile
from contextlib import contextmanager
from importlib import resources
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from neuron_accounts.then import Then
from neuron_emf.account import account
from neuron_emf.command_options import teams
from neuron_emf.reading.ledger_bucket import LedgerBucket, stack_ledger
from neuron_emf.report.chargeback_rows import (
    LEDGER_ROWS_REFUSED,
    MOVED,
    Chargeback,
    ChargebackRow,
    answer_row,
    assign_unassigned,
)
from neuron_emf.report.idle_report import Reading, missing_spans
from neuron_emf.report.month_ledger import (
    S3,
    cluster_hours,
    hour_labels,
    ledgers_of,
    month_files,
    month_hours,
)
from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire.line_members import iso_minute
from neuron_wire.names import HOUR_MINUTES

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from neuron_emf.account import Account
    from neuron_emf.report.settings import IdleReportSettings

REHEARSED_EXPORT: Final = "exports/focus/data/"
"""The export's prefix in the ledger's bucket of a rehearsal."""

EXIT_NOT_RECONCILED: Final = 5
"""The exit code if the bill and the ledger contradict each other, or lack a part of the month."""

BILL_COLUMNS: Final = (
    "BillingCurrency", "BillingPeriodStart", "ChargePeriodStart", "ChargePeriodEnd",
    "ChargeCategory", "ChargeClass", "ChargeDescription", "CommitmentDiscountId",
    "CapacityReservationId", "ResourceId", "SkuMeter", "x_ServiceCode", "x_Operation",
    "ConsumedQuantity", "EffectiveCost", "BilledCost",
)  # fmt: skip
"""The columns that the statement reads from AWS's export FOCUS_1_2_AWS, which has more."""

WHOLE_DIVISION: Final = "CAST(CAST(a AS HUGEINT) // CAST(b AS HUGEINT) AS DECIMAL(38, 0))"
"""The division in DuckDB: exact for HUGEINT, but a DOUBLE for DECIMAL."""

_READ_CSV: Final = (
    "read_csv('{}', all_varchar=true, header=true, delim=',', quote='\"', escape='\"')"
)
_READ_PARQUET: Final = "read_parquet('{}')"
_TEAMS_TABLE: Final = (
    "CREATE TABLE teams (number INTEGER, cluster VARCHAR, owner VARCHAR, team VARCHAR)"
)
_CURRENCIES: Final = (
    "SELECT DISTINCT BillingCurrency FROM bill WHERE BillingCurrency IS NOT NULL ORDER BY 1"
)
_BILLED_HOURS: Final = """
SELECT min(hour), max(hour) + 1 FROM (
  SELECT epoch_ms(CAST(ChargePeriodStart AS TIMESTAMP)) // 3600000 AS hour FROM bill
  WHERE ChargeCategory = 'Usage')
"""
_DROP_OTHER_HOURS: Final = (
    'DELETE FROM loaded WHERE is_whole AND "date" || \'T\' || "hour" NOT BETWEEN ? AND ?'
)
_BASES: Final = "SELECT DISTINCT Basis FROM loaded WHERE is_whole AND Basis > '' ORDER BY 1"
_ROW_COUNT: Final = "SELECT count(*) FROM loaded WHERE is_whole"
_LEDGER_HOURS: Final = """
SELECT DISTINCT epoch_ms(CAST("date" || ' ' || "hour" || ':00:00' AS TIMESTAMP)) // 3600000
FROM "rows" WHERE Owner <> '[missing]' AND "date" LIKE ? || '-%'
"""
_REFUSED_ROWS: Final = (
    "SELECT count(*), coalesce(sum(ListCost), 0)::DECIMAL(38, 9) FROM loaded WHERE NOT is_whole"
)

_DUCKDB_CONFIG: Final[dict[str, Any]] = {
    "autoinstall_known_extensions": False,
    "autoload_known_extensions": False,
    "memory_limit": "800MB",
    "preserve_insertion_order": False,
    "threads": min(4, os.cpu_count() or 1),
}
_QUOTED_BILL_TEXT: Final = re.compile(r"string [\"']([^\"']{1,80})[\"']")
_CSV: Final = (".csv", ".csv.gz")
_PARQUET: Final = (".parquet",)
_LEDGER_COLUMNS: Final = {
    "Hour": "VARCHAR", "InstanceId": "VARCHAR", "ClusterName": "VARCHAR", "Owner": "VARCHAR",
    "Team": "VARCHAR", "InstanceType": "VARCHAR", "AllocatedCoreMinutes": "DECIMAL(18, 6)",
    "BusyCoreMinutes": "DECIMAL(18, 6)", "UsedCoreMinutes": "DECIMAL(18, 6)",
    "IdleCoreMinutes": "DECIMAL(18, 6)",
    "AvoidableCoreMinutes": "DECIMAL(18, 6)", "CommittedCoreMinutes": "DECIMAL(18, 6)",
    "Basis": "VARCHAR",
    "Executions": "BIGINT", "ListCost": "DECIMAL(18, 9)", "OverlapMinutes": "BIGINT",
}  # fmt: skip
_LEDGER: Final = """
CREATE TABLE loaded AS
SELECT substr("Hour", 1, 10) AS "date", substr("Hour", 12, 2) AS "hour",
  * EXCLUDE ("Hour", filename),
  coalesce(regexp_full_match("Hour", '\\d{4}-\\d{2}-\\d{2}T\\d{2}:00Z') AND "Hour" LIKE ? || '-%'
    AND regexp_extract(filename, 'date=.*/hour=\\d\\d') IN ('',
      'date=' || substr("Hour", 1, 10) || '/hour=' || substr("Hour", 12, 2))
    AND AllocatedCoreMinutes >= 0
    AND InstanceId || ClusterName || Owner IS NOT NULL, false) AS is_whole
FROM read_json(?, columns=?, format='newline_delimited', filename=true,
  ignore_errors=true, hive_partitioning=false)
"""
_HOURS_TABLE: Final = (
    "CREATE TABLE hours AS SELECT unnest(?::VARCHAR[]) AS iso, unnest(?::VARCHAR[]) AS label"
)
_ROWS_VIEW: Final = """
CREATE VIEW "rows" AS
SELECT * EXCLUDE (is_whole) FROM loaded WHERE is_whole
UNION ALL BY NAME
SELECT substr(iso, 1, 10) AS "date", substr(iso, 12, 2) AS "hour", 'month' AS InstanceId,
  '' AS ClusterName, label AS Owner, 0 AS AllocatedCoreMinutes FROM hours
"""
"""Rows as Athena has them, and the hours that the command found."""


def chargeback(settings: IdleReportSettings, where: Account | None = None) -> Chargeback:
    """
    Split the bill of a month by the ledgers, with the account *where* if it is known already.

    In a rehearsal without a month, the hours of its export are the period, and what the month lacks
    is accepted.

    Raises:
        SettingsError: If an option names something else than it is for.
        SourceError: If a ledger or a bill cannot be read.
    """
    is_of_month = bool(settings.month) or not settings.rehearsal
    hours = month_hours(settings.month) if is_of_month else range(1)
    where = where or account(settings)
    with tempfile.TemporaryDirectory(prefix="neuron-emf-") as name, _database(name) as database:
        folder = Path(name)
        currency = _read_bill(database, bill_files(settings.bill, where, folder / "bill"))
        if not is_of_month:
            ((start, stop),) = _answer(database, _BILLED_HOURS)
            hours = range(start or 0, stop or 1)
        month = iso_minute(hours.start * HOUR_MINUTES)[:7]
        files = [name for name in settings.ledger if Path(name).is_file()]
        names = [name for name in settings.ledger if name not in files]
        ledgers = ledgers_of(names, lambda: where) if names or not files else []
        months = []
        for number, ledger in enumerate(ledgers):
            objects, of_ledger = month_files(ledger, month, folder / str(number))
            files += map(str, objects)
            months.append(of_ledger)
        labels = hour_labels(months, month_hours(month))
        refused = _read_ledger(database, files, labels, month, hours)
        database.execute(_TEAMS_TABLE)
        for number, rule in enumerate(teams(settings.teams).rules):
            of_rule = [number, rule.cluster, rule.owner, rule.team]
            database.execute("INSERT INTO teams VALUES (?, ?, ?, ?)", of_rule)
        by_instance = settings.by == "instance" or settings.html is not None
        is_incomplete = settings.incomplete or not is_of_month
        parameters = [month, is_incomplete, by_instance, month, month]
        answer = [answer_row(row) for row in _answer(database, statement(), parameters)]
        then = Then(bases={str(basis) for (basis,) in _answer(database, _BASES)})
        known = {int(hour) for (hour,) in _answer(database, _LEDGER_HOURS, [month])}
        ((ledger_rows,),) = _answer(database, _ROW_COUNT)
    rows = [row for row in answer if row.problem != MOVED]
    if refused is not None and not is_incomplete:
        rows = [row for row in rows if row.problem] + [refused]
    spread = None
    if not any(row.problem for row in rows):
        rows, spread = assign_unassigned(rows, settings.unassigned)
        if len(ledgers) == max(1, len(settings.ledger)) == 1:
            then.cluster_hours = cluster_hours(ledgers[0], hours)
    return Chargeback(
        month=month,
        hours=hours,
        currency=currency,
        rows=rows,
        moved=sum(row.found or 0 for row in answer if row.problem == MOVED),
        spread=spread,
        then=then,
        reading=Reading(
            origin="the ledger and the bill",
            is_ledger=True,
            hours=len(known.intersection(hours)),
            missing=missing_spans("the ledger", hours, known),
            ledger_rows=ledger_rows,
        ),
    )


def statement() -> str:
    """Return the SQL for DuckDB; Athena's SQL differs in the division."""
    return resources.files("neuron_emf.report").joinpath("chargeback.sql").read_text("utf-8")


def bill_files(places: Sequence[str], where: Account, folder: Path) -> list[Path]:
    """
    Return the files of the export in *places*. Files in S3 are fetched into *folder*.

    Raises:
        SettingsError: If a place has none, or one is named twice.
        SourceError: If S3 refuses or does not answer.
    """
    files: list[Path] = []
    for number, place in enumerate(places):
        path = Path(place)
        if place == S3 and not where.is_rehearsal:
            msg = "--bill names no file. Name the export's files, or use --rehearsal."
            raise SettingsError(msg)
        if place.startswith(S3):
            name, _, prefix = place.removeprefix(S3).partition("/")
            bucket = LedgerBucket(where, name) if name else stack_ledger(where)
            keys = bucket.list_keys(prefix if name else REHEARSED_EXPORT)
            path = folder / str(number)
            bucket.copy_objects([key for key in keys if key.endswith(_CSV + _PARQUET)], path)
        exported = sorted(path.rglob("*")) if path.is_dir() else [path]
        exported = [
            file for file in exported if file.is_file() and file.name.endswith(_CSV + _PARQUET)
        ]
        if not exported:
            msg = f"--bill {place} has no .csv, .csv.gz or .parquet file. Name the export's files."
            raise SettingsError(msg)
        files += exported
    if len({file.resolve() for file in files}) < len(files):
        msg = "--bill names a file twice. Name each file of the export once."
        raise SettingsError(msg)
    return files


@contextmanager
def _database(folder: str) -> Iterator[Any]:
    """
    Yield a database in memory that spills to *folder*.

    Raises:
        SettingsError: If DuckDB is not installed.
    """
    try:
        import duckdb  # noqa: PLC0415 - the extra `bill`; 0.2 s and 30 MB
    except ImportError as error:
        msg = "--bill needs DuckDB, which is not installed. Run pip install 'neuron-emf[bill]'."
        raise SettingsError(msg) from error
    with duckdb.connect(
        ":memory:", config={**_DUCKDB_CONFIG, "temp_directory": folder}
    ) as database:
        database.execute("SET TimeZone = 'UTC'; SET enable_progress_bar = false")
        database.execute(f"CREATE MACRO whole(a, b) AS {WHOLE_DIVISION}")
        try:
            yield database
        except (duckdb.ConversionException, duckdb.OutOfRangeException) as error:
            quoted = _QUOTED_BILL_TEXT.search(str(error))
            msg = (
                f"Cannot divide the bill: {quoted[1] if quoted else 'an amount'} has more than 20 "
                "digits before its point, or is not a number. Check EffectiveCost, BilledCost and "
                "ConsumedQuantity of --bill."
            )
            raise SourceError(msg) from error
        except duckdb.Error as error:  # the further lines of the error contain what DuckDB read
            reason = str(error).splitlines()[0].rstrip(".")
            msg = f"Cannot read the bill or the ledger: {reason}. Check --bill and --ledger."
            raise SourceError(msg) from error


def _read_bill(database: Any, files: Sequence[Path]) -> str:  # noqa: ANN401  # DuckDB's connection
    """Create the view `bill` of *files*. Return its currency."""
    parts = []
    for file in files:
        reader = _READ_PARQUET if file.name.endswith(_PARQUET) else _READ_CSV
        source = reader.format(str(file).replace("'", "''"))
        columns = {str(row[0]).lower() for row in _answer(database, f"DESCRIBE FROM {source}")}
        if missing := [column for column in BILL_COLUMNS if column.lower() not in columns]:
            msg = (
                f"{file} lacks {', '.join(missing)}. Export the table FOCUS_1_2_AWS with all "
                "columns, TIME_GRANULARITY HOURLY."
            )
            raise SettingsError(msg)
        # Read columns as text: a column that is DECIMAL in one file and DOUBLE in another would be
        # DOUBLE.
        texts = ", ".join(f"CAST({column} AS VARCHAR) AS {column}" for column in BILL_COLUMNS)
        parts.append(f"FROM {source} SELECT {texts}")
    database.execute(f"CREATE VIEW bill AS {' UNION ALL '.join(parts)}")
    currencies = [str(row[0]) for row in _answer(database, _CURRENCIES)]
    if len(currencies) > 1:
        msg = f"The bill is in {' and '.join(currencies)}. Run once for the files of each currency."
        raise SettingsError(msg)
    return currencies[0] if currencies else "USD"


def _read_ledger(
    database: Any,  # noqa: ANN401  # as above
    files: Sequence[str],
    labels: Mapping[int, str],
    month: str,
    hours: range,
) -> ChargebackRow | None:
    """
    Create the view `rows` of *hours* in *files*, with the *labels* of hours.

    Return a row about damaged rows, or None.
    """
    database.execute(_LEDGER, [month, files, _LEDGER_COLUMNS])
    ends = [iso_minute(hour * HOUR_MINUTES)[:13] for hour in (hours[0], hours[-1])]
    database.execute(_DROP_OTHER_HOURS, ends)
    labeled = [iso_minute(hour * HOUR_MINUTES) for hour in labels]
    database.execute(_HOURS_TABLE, [labeled, [*labels.values()]])
    database.execute(_ROWS_VIEW)
    ((count, cost),) = _answer(database, _REFUSED_ROWS)
    row = ChargebackRow(problem=LEDGER_ROWS_REFUSED, found=count, amount=cost)
    return row if count else None


def _answer(database: Any, text: str, parameters: Sequence[Any] = ()) -> list[tuple[Any, ...]]:  # noqa: ANN401  # as above
    rows: list[tuple[Any, ...]] = database.execute(text, parameters).fetchall()
    return rows
