"""
What real AWS answered: tables of cases, one for each subject, in `tables/`.

Each line restates one case of a recording, with the recording's path; the recordings
themselves stay where they are. Paths are those of github.com/radkawar/stackd at commit
9dc356f5e5cc49d2d334178a09c1398dd1c62617, captured in September and October 2026.
Words of patterns and names of groups are ours, one for one for the recorded ones; a case
"one before" is the evaluation before the recorded one, which changed nothing.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

TABLES = Path(__file__).parent / "tables"


def rows(subject):
    """The cases of a subject."""
    lines = (TABLES / f"{subject}.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines]


def each(subject):
    """Run a test for every case of a subject, as its argument `row`."""
    name = lambda row: f"{row['recording'].removeprefix('testdata/aws/')}: {row['case']}"  # noqa: E731
    return pytest.mark.parametrize("row", rows(subject), ids=name)
