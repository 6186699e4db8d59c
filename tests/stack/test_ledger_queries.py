"""
The saved queries of Athena, run by DuckDB on the objects that settle writes.

The text is the template's, unchanged; the test makes the table from the columns of the Glue table.
The chargeback's text for Athena, which only Athena runs, is compared with the text for DuckDB and
parsed as Trino's.
"""

from __future__ import annotations

import re
import textwrap
import time
from decimal import Decimal

import duckdb
import pytest
import sqlglot

from neuron_accounts.ledger import (
    LEDGER_COSTS,
    LEDGER_COUNTS,
    LEDGER_MINUTES,
    LEDGER_TEXTS,
    PARTS_OF_HOUR,
    pack_rows,
    parse_part_key,
    part_key,
)
from neuron_emf.reading.ledger_bucket import rows as read_rows
from neuron_emf.report.chargeback import BILL_COLUMNS, statement

MEMBER_BY_COLUMN = {
    member.lower(): member
    for member in (*LEDGER_TEXTS, *LEDGER_MINUTES, *LEDGER_COSTS, *LEDGER_COUNTS, "Basis")
}
NANO_DECIMAL = Decimal(10**9)
MICROS_OF_HOUR = 60 * 10**6
WHOLE_CALL = re.compile(r"\bwhole\((?!a, b\))([^(),]+), ([^(),]+)\)")
IN_ATHENA = r"CAST((\1 - mod(\1, \2)) / \2 AS DECIMAL(38, 0))"
"""Division of DECIMAL rounds half up in Trino, so the dividend must leave no remainder."""

SAVED = re.compile(r"(/chargeback' }\n.*?Fn::Sub: \|-\n)(.*?)\n\n(?=#)", re.DOTALL)


def queries(template):
    """Return texts of the saved queries by name."""
    return {
        resource["Properties"]["Name"]["Fn::Sub"].rpartition("/")[2]: resource["Properties"][
            "QueryString"
        ]
        for resource in template["Resources"].values()
        if resource["Type"] == "AWS::Athena::NamedQuery"
    }


def columns(template, logical_id):
    """Return columns of a Glue table and their types."""
    table = template["Resources"][logical_id]["Properties"]["TableInput"]["StorageDescriptor"]
    return {
        column["Name"]: column["Type"].upper().replace("STRING", "VARCHAR")
        for column in table["Columns"]
    }


def answers(folder, template):
    """Return the answers of each saved query except the chargeback for the ledger in *folder*."""
    kinds = {
        MEMBER_BY_COLUMN[name]: column_type
        for name, column_type in columns(template, "LedgerTable").items()
    }
    with duckdb.connect() as database:
        database.execute(
            "CREATE TABLE rows AS SELECT * FROM read_json("
            f"'{folder}/ledger/schema=1/*/*/*.json.gz', format='newline_delimited', "
            f"columns={kinds}, hive_partitioning=true, "
            "hive_types={'date': VARCHAR, 'hour': VARCHAR, 'schema': VARCHAR})"
        )
        rows_by_query = {}
        for name, text in queries(template).items():
            if name != "chargeback":
                answer = database.execute(text)
                names = [column[0].lower() for column in answer.description]
                rows_by_query[name] = [
                    dict(zip(names, row, strict=True)) for row in answer.fetchall()
                ]
    return rows_by_query


@pytest.fixture
def yesterday(hour, tmp_path):
    """
    Return folder and rows of the rehearsal's hour, a day ago, because the queries look back from
    today.
    """
    then = int(time.time()) // 3600 - 24
    rows = []
    objects = {parse_part_key(key): payload for key, payload in hour.ledger.items()}
    del objects[None]  # the summary, which is outside Athena's location
    for (hour_of, part), payload in objects.items():
        of_part = [row._replace(hour=then) for row in read_rows([(hour_of, payload)])]
        file = tmp_path / part_key(then, part)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(pack_rows(of_part))
        rows += of_part
    assert PARTS_OF_HOUR == len(objects)
    return tmp_path, rows


def test_each_saved_query_returns_the_sums_of_the_rows(yesterday, template):
    """Each saved query agrees with the rows by owner and by day, to the last digit of a dollar."""
    folder, rows = yesterday
    rows_by_query = answers(folder, template)
    assert {"idle-by-owner", "trend-by-day"} == rows_by_query.keys()
    idle, avoidable, held = (
        sum(getattr(row, field) or 0 for row in rows)
        for field in ("idle_cost", "avoidable_cost", "allocated")
    )
    for name, reported in rows_by_query.items():
        assert idle / NANO_DECIMAL == sum(Decimal(row["idle_usd"] or 0) for row in reported), name
        assert avoidable / NANO_DECIMAL == sum(
            Decimal(row["avoidable_usd"] or 0) for row in reported
        ), name
    (day,) = rows_by_query["trend-by-day"]
    assert held / MICROS_OF_HOUR == pytest.approx(float(day["core_hours"]))
    first = rows_by_query["idle-by-owner"][0]
    assert "slurm:4711 ml-user" == first["owner"]
    assert 1 == first["instances"]
    assert {row.owner for row in rows} == {row["owner"] for row in rows_by_query["idle-by-owner"]}


def test_the_two_texts_of_the_chargeback_differ_in_whole_division_alone(
    template, repository, request
):
    """
    The two texts of the chargeback differ only in integer division and the bill's table;
    `--update-golden` writes Athena's.
    """
    expected = re.sub(
        r"FROM bill\b", "FROM ${BillTable}", WHOLE_CALL.sub(IN_ATHENA, statement())
    ).strip()
    if request.config.getoption("--update-golden"):
        views = repository / "views.yaml"
        block = textwrap.indent(expected, " " * 8)
        text = SAVED.sub(lambda match: f"{match[1]}{block}\n\n", views.read_text("utf-8"))
        views.write_text(text, "utf-8")
        return
    assert expected == queries(template)["chargeback"]["Fn::Sub"]
    assert 5 == len(WHOLE_CALL.findall(statement()))


def test_athena_can_read_the_text_and_its_tables_are_those_of_the_command(template):
    """
    Trino parses the text, its tables are the command's, it has five parameters and no sign that
    would split it.
    """
    text = queries(template)["chargeback"]["Fn::Sub"].replace("${BillTable}", "exports.focus")
    (tree,) = sqlglot.parse(text, dialect="trino")
    names = {table.name for table in tree.find_all(sqlglot.exp.Table)}
    ctes = {cte.alias for cte in tree.find_all(sqlglot.exp.CTE)}
    assert {"rows", "focus", "teams"} == names - ctes
    assert 5 == len(list(tree.find_all(sqlglot.exp.Placeholder)))
    assert ";" not in text
    assert {"NUMBER", "CLUSTER", "OWNER", "TEAM"} == {
        name.upper() for name in columns(template, "ChargebackTeams")
    }
    used = {column.name.lower() for column in tree.find_all(sqlglot.exp.Column)}
    assert {name.lower() for name in BILL_COLUMNS} - used == {"billingcurrency"}
