"""
The four saved queries of Athena, run by DuckDB on the very objects that settle puts.

DuckDB is in the environment of the embedded AWS, which brings it, so it runs there. The
queries are those of the template to the letter; only the table is made otherwise, of the
columns that the Glue table has.
"""

from __future__ import annotations

import json
import subprocess
import time
from decimal import Decimal

import pytest

from neuron_emf.ledger import rows as read_rows
from neuron_wire.ledger import COSTS, MINUTES, PARTS, TEXTS, key_of, packed, place_of

pytestmark = [pytest.mark.embedded, pytest.mark.proof]

MEMBERS = {member.lower(): member for member in (*TEXTS, *MINUTES, *COSTS, "Basis")}
NANO = Decimal(10**9)
MICRO_HOURS = 60 * 10**6
PROGRAM = """
import json, sys
import duckdb
asked = json.load(sys.stdin)
connection = duckdb.connect()
connection.execute("SET enable_progress_bar = false")  # it would stand among the answers
columns = "{" + ", ".join(f"'{name}': '{kind}'" for name, kind in asked["columns"].items()) + "}"
connection.execute(
    f"CREATE VIEW rows AS SELECT * FROM read_json('{asked['objects']}', format='newline_delimited',"
    f" columns={columns}, hive_partitioning=true,"
    " hive_types={'date': VARCHAR, 'hour': VARCHAR, 'schema': VARCHAR})"
)
answers = {}
for name, text in asked["queries"].items():
    answer = connection.execute(text)
    names = [one[0].lower() for one in answer.description]
    answers[name] = [dict(zip(names, row)) for row in answer.fetchall()]
json.dump(answers, sys.stdout, default=str)
"""


def answers(python, folder, template):
    """What each saved query gives of the ledger in *folder*; decimals of DuckDB are texts."""
    resources = template["Resources"]
    table = resources["LedgerTable"]["Properties"]["TableInput"]["StorageDescriptor"]
    columns = {MEMBERS[one["Name"]]: one["Type"].upper() for one in table["Columns"]}
    asked = {
        "objects": f"{folder}/ledger/schema=1/*/*/*.json.gz",
        "columns": {name: kind.replace("STRING", "VARCHAR") for name, kind in columns.items()},
        "queries": {
            one["Properties"]["Name"]["Fn::Sub"].rpartition("/")[2]: one["Properties"][
                "QueryString"
            ]
            for one in resources.values()
            if one["Type"] == "AWS::Athena::NamedQuery"
        },
    }
    command = [str(python), "-c", PROGRAM]
    done = subprocess.run(
        command, input=json.dumps(asked), capture_output=True, check=True, text=True
    )
    return json.loads(done.stdout)


@pytest.fixture
def yesterday(hour, tmp_path):
    """The rehearsal's hour a day ago, since the queries look back from today: folder and rows."""
    then = int(time.time()) // 3600 - 24
    rows = []
    objects = {place_of(key): payload for key, payload in hour.ledger.items()}
    del objects[None]  # the summary, which stands where Athena does not look
    for (hour_of, part), payload in objects.items():
        of_part = [row._replace(hour=then) for row in read_rows([(hour_of, payload)])]
        file = tmp_path / key_of(then, part)
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(packed(of_part))
        rows += of_part
    assert PARTS == len(objects)
    return tmp_path, rows


def test_each_saved_query_says_what_the_rows_say(yesterday, programs, template):
    """By team and month, by owner, by day and of use, to the last digit of a dollar."""
    folder, rows = yesterday
    found = answers(programs[0].parent / "python", folder, template)
    assert {"cost-by-team-and-month", "idle-by-owner", "trend-by-day", "use-of-held-hours"} == (
        found.keys()
    )
    idle, avoidable, held = (
        sum(getattr(row, field) or 0 for row in rows)
        for field in ("idle_cost", "avoidable_cost", "held")
    )
    for name in ("cost-by-team-and-month", "idle-by-owner", "trend-by-day"):
        told = found[name]
        assert idle / NANO == sum(Decimal(row["idle_usd"] or 0) for row in told), name
        assert avoidable / NANO == sum(Decimal(row["avoidable_usd"] or 0) for row in told), name
    (day,) = found["trend-by-day"]
    assert held / MICRO_HOURS == pytest.approx(float(day["core_hours"]))
    teams = {row["team"] for row in found["cost-by-team-and-month"]}
    assert {"ml", "search", "[no team]", "[unallocated]"} <= teams
    first = found["idle-by-owner"][0]
    assert ("slurm:4711 ml-user", 1) == (first["owner"], first["instances"])
    used = found["use-of-held-hours"]
    assert {row.owner for row in rows} - {"[unallocated]", "[unknown]"} == {
        row["owner"] for row in used
    }
