"""
Run the Athena text of the chargeback on Apache Spark, and compare it with the product's answer.

Spark reads the same files as `neuron-emf report --bill`, whose engine is DuckDB. sqlglot
translates the saved query from Athena's dialect to Spark's. `random_months` makes the months.
"""

from __future__ import annotations

import os
import random
import shutil
import subprocess
import sys
from collections import Counter
from decimal import Decimal
from importlib import import_module
from importlib.metadata import version
from itertools import zip_longest
from typing import TYPE_CHECKING, Any, Final

import sqlglot
import yaml
from sqlglot import expressions

from local import REPOSITORY
from neuron_emf.command_options import teams
from neuron_emf.report.chargeback import chargeback
from neuron_emf.report.chargeback_rows import MOVED, answer_row
from proof.real.random_months import random_month

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_emf.report.chargeback_rows import Chargeback
    from neuron_emf.report.settings import IdleReportSettings

TITLE: Final = "Spark"
CLAIM: Final = (
    "The saved Athena query of the chargeback runs on Apache Spark over 22 random months, and its "
    "rows equal the rows that the command computes with DuckDB."
)
SITE: Final = ".real/spark/lib/python3*/site-packages"
SPARK_SEED: Final = 47
FIRST_MONTH: Final = 2025 * 12  # January 2025, counted from year 0
MONTHS: Final = 22
FEWEST_OF_A_KIND: Final = 4
WHOLE_DIVISIONS: Final = 5  # in the text
LEDGER_SCHEMA: Final = (
    "Hour STRING, InstanceId STRING, ClusterName STRING, Owner STRING, Team STRING,"
    " InstanceType STRING, AllocatedCoreMinutes DECIMAL(24, 6), BusyCoreMinutes DECIMAL(24, 6),"
    " UsedCoreMinutes DECIMAL(24, 6), IdleCoreMinutes DECIMAL(24, 6),"
    " AvoidableCoreMinutes DECIMAL(24, 6), CommittedCoreMinutes DECIMAL(24, 6),"
    " Executions BIGINT, ListCost DECIMAL(24, 9), OverlapMinutes BIGINT"
)
SPARK_COLUMNS: Final = (
    "substr(Hour, 1, 10) AS date",
    "substr(Hour, 12, 2) AS hour",
    "* EXCEPT (Hour)",
)
SPARK_CONFIG: Final = {
    "spark.master": "local[1]",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.log.level": "ERROR",
    "spark.driver.bindAddress": "127.0.0.1",
    "spark.driver.host": "127.0.0.1",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.shuffle.partitions": "1",
    "spark.sql.adaptive.enabled": "false",
    # A month is small, so planning and compilation would take longer than the computation.
    "spark.sql.constraintPropagation.enabled": "false",
    "spark.sql.codegen.wholeStage": "false",
    "spark.sql.codegen.factoryMode": "NO_CODEGEN",
    "spark.sql.ansi.enabled": "true",
    # As in Trino: the scale of a product is the sum of the scales, an overflow is an error.
    "spark.sql.decimalOperations.allowPrecisionLoss": "false",
}
JAVA_OPTIONS: Final = "-XX:TieredStopAtLevel=1"  # short compilation instead of fast code


def missing() -> str | None:
    """Return why Spark cannot run here, or None."""
    if not any(REPOSITORY.glob(f"{SITE}/pyspark")):
        return "pyspark is not installed; run proof/real/install.sh spark"
    if shutil.which("java") is None:
        return "java is not installed; run proof/real/install.sh spark"
    return None


def versions() -> dict[str, str]:
    """Return the versions of the programs that compute and translate."""
    (info_folder,) = REPOSITORY.glob(f"{SITE}/pyspark-*.dist-info")
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    return {
        "pyspark": info_folder.stem.removeprefix("pyspark-"),
        "java": java.stderr.splitlines()[0].split('"')[1],
        "sqlglot": version("sqlglot"),
        "duckdb": version("duckdb"),
    }


def run(folder: Path) -> list[str]:
    """Compare the answers for each month; raise AssertionError with the first difference."""
    text = spark_text(athena_text())
    session = open_session(folder)
    kinds: Counter[str] = Counter()
    row_count = 0
    try:
        for number in range(MONTHS):
            year, month = divmod(FIRST_MONTH + number, 12)
            name = f"{year}-{month + 1:02d}"
            asked = random_month(random.Random(f"{SPARK_SEED}/{name}"), name, folder / name)
            expected = chargeback(asked)
            row_count += compare(expected, answer(session, text, asked))
            is_refused = any(row.problem for row in expected.rows)
            kinds["refused" if is_refused else "split"] += 1
    finally:
        session.stop()
    assert min(kinds["refused"], kinds["split"]) >= FEWEST_OF_A_KIND, dict(kinds)
    return [
        f"{MONTHS} months, seed {SPARK_SEED}: {kinds['split']} split, {kinds['refused']} refused.",
        f"All {row_count:,} rows are equal in every column, amounts to 18 decimals.",
        "sqlglot translates names of types and functions, quotes, escapes and NULLS LAST.",
        f"{WHOLE_DIVISIONS} whole divisions call a function: Spark keeps 20 digits of a quotient.",
    ]


def athena_text() -> str:
    """Return the saved query as the template has it, on the table `bill`."""
    resources = yaml.safe_load((REPOSITORY / "views.yaml").read_text("utf-8"))
    text: str = resources["ChargebackQuery"]["Properties"]["QueryString"]["Fn::Sub"]
    return text.replace("${BillTable}", "bill")


def spark_text(text: str) -> str:
    """Return the Athena *text* in Spark's dialect, with a function instead of whole division."""
    counted = 0

    def replace_division(node: Any) -> Any:
        nonlocal counted
        if isinstance(node, expressions.Cast) and isinstance(node.this, expressions.Div):
            counted += 1
            without_rest = node.this.this.unnest()
            assert isinstance(without_rest, expressions.Sub)
            assert isinstance(without_rest.expression, expressions.Mod)
            operands = [without_rest.this, node.this.expression]
            return expressions.Anonymous(this="whole", expressions=operands)
        return node

    tree = sqlglot.parse_one(text, read="athena").transform(replace_division)
    assert WHOLE_DIVISIONS == counted
    return str(tree.sql(dialect="spark"))


def open_session(folder: Path) -> Any:
    """Start Spark in this process; Spark writes to *folder*."""
    (site,) = REPOSITORY.glob(SITE)
    sys.path.append(str(site))
    os.environ["PYSPARK_PYTHON"] = sys.executable
    os.environ["SPARK_LOCAL_IP"] = "127.0.0.1"
    os.environ["PYSPARK_SUBMIT_ARGS"] = (
        "--driver-java-options -XX:TieredStopAtLevel=1 pyspark-shell"
    )
    builder = import_module("pyspark.sql").SparkSession.builder
    settings = {
        **SPARK_CONFIG,
        "spark.local.dir": folder,
        "spark.sql.warehouse.dir": folder / "tables",
    }
    for name, value in settings.items():
        builder = builder.config(name, str(value))
    session = builder.getOrCreate()
    decimal = import_module("pyspark.sql.types").DecimalType(38, 0)
    session.udf.register("whole", whole, decimal)
    return session


def whole(dividend: Any, divisor: Any) -> Any:
    """
    Divide two whole numbers of at least 0 and round down; NULL if one is NULL.

    NULL if *divisor* is 0: Spark calls a function also in branches of a CASE that are not taken.
    """
    if dividend is None or not divisor:
        return None
    return Decimal(int(dividend) // int(divisor))


def answer(session: Any, text: str, asked: IdleReportSettings) -> list[tuple[Any, ...]]:
    """Return the rows that Spark computes from the files of one month."""
    bill = session.read.csv(list(asked.bill), header=True, quote='"', escape='"')
    bill.createOrReplaceTempView("bill")
    ledger = session.read.schema(LEDGER_SCHEMA).json(list(asked.ledger))
    ledger.selectExpr(*SPARK_COLUMNS).createOrReplaceTempView("rows")
    rules = [
        (number, rule.cluster, rule.owner, rule.team)
        for number, rule in enumerate(teams(asked.teams).rules)
    ]
    columns = "number INT, cluster STRING, owner STRING, team STRING"
    session.createDataFrame(rules, columns).createOrReplaceTempView("teams")
    by_instance = asked.by == "instance"
    parameters = [asked.month, asked.incomplete, by_instance, asked.month, asked.month]
    return [tuple(row) for row in session.sql(text, args=parameters).collect()]


def compare(expected: Chargeback, computed: list[tuple[Any, ...]]) -> int:
    """Return the number of rows; raise AssertionError with the first rows that differ."""
    rows = [answer_row(row) for row in computed]
    moved = sum(row.found or 0 for row in rows if row.problem == MOVED)
    rows = [row for row in rows if row.problem != MOVED]
    assert expected.moved == moved, expected.month
    for of_duckdb, of_spark in zip_longest(expected.rows, rows):
        message = f"{expected.month}: DuckDB has {of_duckdb}, Spark has {of_spark}"
        assert of_duckdb == of_spark, message
    assert computed, f"{expected.month}: no rows"
    return len(computed)
