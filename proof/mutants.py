"""
Draw a sample of the planted faults: `make mutants SAMPLE=100 SEED=7`.

cosmic-ray keeps a session as an SQLite file with one row for each fault. Faults that are not drawn
are deleted before the run. Their IDs are random, so faults are drawn in source order.
"""

from __future__ import annotations

import contextlib
import random
import sqlite3
import sys

MUTANT_COLUMNS = "module_path, start_pos_row, start_pos_col, operator_name"


def main(path: str, size: int, seed: int) -> None:
    """Draw *size* faults of the session at *path* and print how many there were."""
    with contextlib.closing(sqlite3.connect(path)) as session:
        drawn, planned = draw_sample(session, size, seed)
    print(f"{drawn} of {planned:,} faults drawn with seed {seed}")


def draw_sample(session: sqlite3.Connection, size: int, seed: int) -> tuple[int, int]:
    """
    Delete all faults but *size*. Return how many are left and how many there were.

    Most `|` are in annotations, which only a type checker reads: none of them is drawn.
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


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
