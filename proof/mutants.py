"""
A sample of the planted faults, and those that no test found: `make mutants SAMPLE=100 SEED=7`.

cosmic-ray keeps a session as an SQLite file: one row for each fault, and its result once the
tests have run on it. Before the run, `sample` deletes what is not drawn; after it, `survivors`
lists by module and line. The faults' own ids are random, so they are drawn in source order.
"""

from __future__ import annotations

import argparse
import contextlib
import random
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

MUTANT_COLUMNS = "module_path, start_pos_row, start_pos_col, operator_name"


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
    """
    Delete all faults but *size*; returns how many are left and how many there were.

    Most `|` stand in annotations, which only a type checker reads: none of them is drawn.
    """
    order = f"{MUTANT_COLUMNS}, operator_args, occurrence"
    query = f"SELECT job_id, {MUTANT_COLUMNS} FROM mutation_specs ORDER BY {order}"
    rows = session.execute(query).fetchall()
    faults = [job_id for job_id, *_, operator in rows if "BitOr" not in operator]
    drawn = set(random.Random(seed).sample(faults, min(size, len(faults))))
    left_out = [(job_id,) for job_id, *_ in rows if job_id not in drawn]
    with session:
        for table in ("mutation_specs", "work_items"):
            session.executemany(f"DELETE FROM {table} WHERE job_id = ?", left_out)
    return len(drawn), len(faults)


def surviving_faults(session: sqlite3.Connection) -> list[str]:
    """One line for each fault that no test found: module, line and kind of fault."""
    query = f"""
        SELECT {MUTANT_COLUMNS} FROM mutation_specs JOIN work_results USING (job_id)
        WHERE test_outcome = 'SURVIVED' ORDER BY {MUTANT_COLUMNS}
    """
    return [
        f"{module}:{line}: {operator.removeprefix('core/')}"
        for module, line, _, operator in session.execute(query)
    ]


if __name__ == "__main__":
    sys.exit(main())
