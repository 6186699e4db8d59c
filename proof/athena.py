"""
The saved queries of Athena, run by DuckDB on objects of the ledger.

DuckDB is in the environment of the embedded AWS, which brings it, so it runs there. The
queries are those of the template to the letter; only the table is made otherwise, of the
columns that the Glue table has.
"""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any, Final

from neuron_wire.ledger import COSTS, MINUTES, TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    Rows = Sequence[Mapping[str, Any]]

QUERY: Final = "AWS::Athena::NamedQuery"
TABLE: Final = "LedgerTable"
_MEMBERS: Final = {member.lower(): member for member in (*TEXTS, *MINUTES, *COSTS, "Basis")}
_TIMEOUT_S: Final = 600

_PROGRAM: Final = """
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


def saved_queries(template: Mapping[str, Any]) -> dict[str, str]:
    """Every saved query of Athena by its name without the stack's."""
    return {
        one["Properties"]["Name"]["Fn::Sub"].rpartition("/")[2]: one["Properties"]["QueryString"]
        for one in template["Resources"].values()
        if one["Type"] == QUERY
    }


def answers(python: Path, folder: Path, template: Mapping[str, Any]) -> dict[str, Rows]:
    """
    What each saved query of *template* gives of the ledger in *folder*, asked by *python*.

    Numbers that DuckDB has as decimals are texts.

    Raises:
        subprocess.CalledProcessError: If DuckDB refuses one.
    """
    storage = template["Resources"][TABLE]["Properties"]["TableInput"]["StorageDescriptor"]
    columns = {_MEMBERS[one["Name"]]: one["Type"].upper() for one in storage["Columns"]}
    asked = {
        "objects": f"{folder}/ledger/schema=1/*/*/*.json.gz",
        "columns": {name: kind.replace("STRING", "VARCHAR") for name, kind in columns.items()},
        "queries": saved_queries(template),
    }
    done = subprocess.run(  # our own environment's interpreter
        [str(python), "-c", _PROGRAM],
        input=json.dumps(asked), capture_output=True, check=True, text=True, timeout=_TIMEOUT_S,
    )  # fmt: skip
    found: dict[str, Rows] = json.loads(done.stdout)
    return found
