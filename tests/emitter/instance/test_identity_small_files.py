"""Small files of the machine: what can be read in a moment, or nothing."""

from __future__ import annotations

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from emitter.instance.small_files import MAX_FILE_BYTES, assignments, read_text


@given(st.text())
def test_any_text_has_assignments_or_none(text):
    """A file that is something else altogether costs nothing."""
    assert all(key == key.strip() for key, _value in assignments(text))


@pytest.mark.parametrize(
    ("expected", "line"),
    [
        (("ClusterName", "one"), "ClusterName=one"),
        (("ClusterName", "one"), "  ClusterName = one   # of two"),
        (("stack_name", "one"), 'export stack_name="one"'),
        (("stack_name", "one"), "stack_name='one'"),
        (("KEY", "a=b"), "KEY=a=b"),
        (("KEY", ""), "KEY="),
    ],
)
def test_an_assignment_is_read_as_shells_and_slurm_write_it(expected, line):
    """Without its comment, its quotes and its export."""
    assert [expected] == list(assignments(line))


@pytest.mark.parametrize("line", ["", "# KEY=value", "include other.conf", "word"])
def test_other_lines_assign_nothing(line):
    """Comments and directives are left out."""
    assert [] == list(assignments(line))


def test_a_file_is_read_up_to_a_bound(tmp_path):
    """Whatever it is that stands under the name."""
    path = tmp_path / "large"
    path.write_bytes(b"x" * (MAX_FILE_BYTES + 1))
    assert MAX_FILE_BYTES == len(read_text(path))


def test_what_cannot_be_read_is_nothing(tmp_path):
    """A missing file, a folder, a name that is none."""
    assert [None] * 3 == [
        read_text(path) for path in (tmp_path / "missing", tmp_path, Path("a\0b"))
    ]


def test_a_fifo_is_not_waited_for(tmp_path):
    """A variable may name one, and nobody may ever write to it."""
    path = tmp_path / "fifo"
    os.mkfifo(path)
    assert read_text(path) is None
