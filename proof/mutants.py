"""
A sample of the planted faults, and those that no test found: `make mutants SAMPLE=100 SEED=7`.

cosmic-ray keeps a session as an SQLite file: one row for each fault, and its result once the
tests have run on it. Before the run, `sample` deletes what is not drawn; after it, `survivors`
lists by module and line. The faults' own ids are random, so they are drawn in source order.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import random
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

PLACE = "module_path, start_pos_row, start_pos_col, operator_name"


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one of the two commands; returns the exit code, 1 where a fault survived."""
    parser = argparse.ArgumentParser(prog="python -m proof.mutants")
    parser.add_argument("session", type=Path, help="the SQLite file that cosmic-ray init made")
    parser.add_argument("--sample", type=int, metavar="N", help="keep N faults, drawn by chance")
    parser.add_argument("--seed", type=int, default=1, help="of the draw; default %(default)s")
    chosen = parser.parse_args(arguments)
    with contextlib.closing(sqlite3.connect(chosen.session)) as session:
        if chosen.sample is not None:
            drawn, planned = draw_sample(session, chosen.sample, chosen.seed)
            print(f"{drawn} of {planned:,} faults drawn with seed {chosen.seed}")
            return 0
        survivors = surviving_faults(session)
        ((tried,),) = session.execute("SELECT count(*) FROM work_results")
        print(*survivors, f"{len(survivors)} of {tried:,} faults survived", sep="\n")
    return 1 if survivors else 0


def draw_sample(session: sqlite3.Connection, size: int, seed: int) -> tuple[int, int]:
    """Delete all faults but *size*; returns how many are left and how many there were."""
    query = (
        f"SELECT job_id, {PLACE} FROM mutation_specs ORDER BY {PLACE}, operator_args, occurrence"
    )
    rows = session.execute(query).fetchall()
    types = {path: _annotated_places(Path(path)) for path in {path for _, path, *_ in rows}}
    no_faults = [row[0] for row in rows if (row[2], row[3]) in types[row[1]]]
    ids = [row[0] for row in rows if (row[2], row[3]) not in types[row[1]]]
    left_out = no_faults + random.Random(seed).sample(ids, max(0, len(ids) - size))
    with session:
        for table in ("mutation_specs", "work_items"):
            statement = f"DELETE FROM {table} WHERE job_id = ?"
            session.executemany(statement, [(job_id,) for job_id in left_out])
    return min(size, len(ids)), len(ids)


def _annotated_places(module: Path) -> set[tuple[int, int]]:
    """Line and column, each from where it is counted there, of what only a type checker reads."""
    annotations = [
        annotation
        for node in ast.walk(ast.parse(module.read_text(encoding="utf-8")))
        for field in ("annotation", "returns")
        if isinstance(annotation := getattr(node, field, None), ast.expr)
    ]
    parts = [part for annotation in annotations for part in ast.walk(annotation)]
    return {
        (line, column)
        for part in parts
        if isinstance(part, ast.expr)
        for line in range(part.lineno, (part.end_lineno or part.lineno) + 1)
        for column in range(part.col_offset, (part.end_col_offset or 0) + 1)
    }


def surviving_faults(session: sqlite3.Connection) -> list[str]:
    """One line for each fault that no test found: module, line and kind of fault."""
    query = f"""
        SELECT {PLACE} FROM mutation_specs JOIN work_results USING (job_id)
        WHERE test_outcome = 'SURVIVED' ORDER BY {PLACE}
    """
    return [
        f"{module}:{line}: {operator.removeprefix('core/')}"
        for module, line, _, operator in session.execute(query)
    ]


if __name__ == "__main__":
    sys.exit(main())
