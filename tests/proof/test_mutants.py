"""Which faults are planted: in files that exist, and the same ones for the same seed."""

from __future__ import annotations

import re
from pathlib import Path

REPOSITORY = Path(__file__).resolve().parents[2]


def test_the_modules_and_tests_of_the_planted_faults_exist():
    """A renamed module or test is renamed in `proof/mutants.toml` too."""
    paths = re.findall(r"[\w/]+\.py\b", (REPOSITORY / "proof" / "mutants.toml").read_text("utf-8"))
    assert [] == [path for path in paths if not (REPOSITORY / path).is_file()]
    assert any(path.startswith("tests/") for path in paths)
