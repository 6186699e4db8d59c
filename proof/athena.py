"""
The saved queries of Athena, run by DuckDB on objects of the ledger.

DuckDB is in the environment of the embedded AWS, which brings it, so it runs there. The
queries are those of the template to the letter; only the table is made otherwise, of the
columns that the Glue table has.

    python -m proof.athena FOLDER    # what each takes of the ledger in it, as JSON
"""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from local.alarms.template import load_template
from neuron_wire.ledger import COSTS, MINUTES, TEXTS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

REPOSITORY: Final = Path(__file__).resolve().parent.parent
QUERY: Final = "AWS::Athena::NamedQuery"
TABLE: Final = "LedgerTable"
_MEMBERS: Final = {member.lower(): member for member in (*TEXTS, *MINUTES, *COSTS, "Basis")}
_TIMEOUT_S: Final = 600

_PROGRAM: Final = """
import json, sys, time
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
    started = time.perf_counter()
    answer = connection.execute(text)
    names = [one[0].lower() for one in answer.description]
    rows = [dict(zip(names, row)) for row in answer.fetchall()]
    answers[name] = {"rows": rows, "seconds": time.perf_counter() - started}
json.dump(answers, sys.stdout, default=str)
"""


@dataclass(frozen=True, slots=True)
class Answer:
    """
    What a query gives.

    Attributes:
        rows: Numbers that DuckDB has as decimals are texts.

        seconds: It took.
    """

    rows: Sequence[Mapping[str, Any]]
    seconds: float


def saved_queries(template: Mapping[str, Any]) -> dict[str, str]:
    """Every saved query of Athena by its name without the stack's."""
    return {
        one["Properties"]["Name"]["Fn::Sub"].rpartition("/")[2]: one["Properties"]["QueryString"]
        for one in template["Resources"].values()
        if one["Type"] == QUERY
    }


def answers(python: Path, folder: Path, template: Mapping[str, Any]) -> dict[str, Answer]:
    """
    What each saved query of *template* gives of the ledger in *folder*, asked by *python*.

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
    return {name: Answer(**one) for name, one in json.loads(done.stdout).items()}


def main(folder: Path) -> None:
    """Ask each query of the ledger in *folder*; seconds and rows."""
    template = load_template(REPOSITORY / "template.yaml")
    python = REPOSITORY / ".venv-embedded" / "bin" / "python"
    answered = answers(python, folder.resolve(), template)
    taken = {
        name: {"seconds": one.seconds, "rows": len(one.rows)} for name, one in answered.items()
    }
    sys.stdout.write(json.dumps(taken, indent=1) + "\n")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
