"""Which faults are planted: in files that exist, and the same ones for the same seed."""

from __future__ import annotations

import re
import sqlite3
from contextlib import closing
from pathlib import Path

from proof.mutants import draw_sample, surviving_faults

REPOSITORY = Path(__file__).resolve().parents[2]


def session(shift):
    """A session of 50 faults, as cosmic-ray keeps them, under ids that depend on *shift*."""
    made = sqlite3.connect(":memory:")
    made.execute("CREATE TABLE work_items (job_id)")
    made.execute(
        "CREATE TABLE mutation_specs (job_id, module_path, start_pos_row, start_pos_col,"
        " operator_name, operator_args, occurrence)"
    )
    made.execute("CREATE TABLE work_results (job_id, test_outcome)")
    for line in range(50):
        job_id = f"{(line * 7 + shift) % 50:02d}"
        made.execute("INSERT INTO work_items VALUES (?)", [job_id])
        row = (job_id, "wire.py", line, 4, "core/NumberReplacer", "{}", line)
        made.execute("INSERT INTO mutation_specs VALUES (?, ?, ?, ?, ?, ?, ?)", row)
        outcome = "KILLED" if line % 10 else "SURVIVED"
        made.execute("INSERT INTO work_results VALUES (?, ?)", [job_id, outcome])
    return closing(made)


def test_the_modules_and_tests_of_the_planted_faults_exist():
    """A renamed module or test is renamed in `proof/mutants.toml` too."""
    paths = re.findall(r"[\w/]+\.py\b", (REPOSITORY / "proof" / "mutants.toml").read_text("utf-8"))
    assert [] == [path for path in paths if not (REPOSITORY / path).is_file()]
    assert any(path.startswith("tests/") for path in paths)


def test_a_seed_draws_the_same_faults_whatever_their_ids():
    """The ids of a session are random; the sample is drawn in source order."""
    with session(0) as first, session(3) as second:
        for database in (first, second):
            assert (12, 50) == draw_sample(database, 12, seed=7)
        kept = "SELECT start_pos_row FROM mutation_specs ORDER BY 1"
        assert first.execute(kept).fetchall() == second.execute(kept).fetchall()


def test_a_survivor_is_listed_by_module_and_line():
    """Faults that a test found are not listed."""
    with session(0) as database:
        listed = surviving_faults(database)
        assert [f"wire.py:{line}: NumberReplacer" for line in range(0, 50, 10)] == listed
