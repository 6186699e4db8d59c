"""A file of whole lines: what a full disk, a crash and other programs leave of it."""

from __future__ import annotations

import errno
import os
import resource
from contextlib import contextmanager
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from emitter.delivery import whole_lines
from emitter.delivery.whole_lines import NotAFileError, WholeLines


@contextmanager
def no_file_larger_than(size_bytes):
    """A limit of this process that cuts a write short, as a full disk does."""
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)


def open_files():
    """How many descriptors this process has."""
    return len(list(Path("/proc/self/fd").iterdir()))


@pytest.fixture
def path(tmp_path):
    """Where the file will be."""
    return tmp_path / "lines"


@pytest.fixture
def lines(path):
    """The file, open."""
    opened = WholeLines(path)
    yield opened
    opened.close()


@settings(max_examples=30)
@given(st.lists(st.binary(max_size=20).map(lambda text: text.replace(b"\n", b"") + b"\n")))
def test_lines_are_added_in_order(tmp_path_factory, batches):
    """To what was there, by one opening or by several."""
    path = tmp_path_factory.mktemp("lines") / "file"
    for place, batch in enumerate(batches):
        if place % 3 == 0:
            lines = WholeLines(path)
        lines.append(batch)
        assert len(b"".join(batches[: place + 1])) == lines.size_bytes
        if place % 3 == 2 or place + 1 == len(batches):
            lines.close()
    assert b"".join(batches) == (path.read_bytes() if batches else b"")


@pytest.mark.parametrize("room", [0, 1, 3, 4, 7])
def test_a_write_that_came_half_way_is_cut_off(path, lines, room):
    """What was there before stays, to the byte; the same lines can be added when there is room."""
    lines.append(b"old\n")
    with no_file_larger_than(4 + room), pytest.raises(OSError, match=r"No space|too large"):
        lines.append(b"one\ntwo\n")
    assert b"old\n" == path.read_bytes()
    lines.append(b"one\ntwo\n")
    assert b"old\none\ntwo\n" == path.read_bytes()


def test_a_disk_that_is_just_large_enough_is_enough(path, lines):
    """The last byte of it included."""
    with no_file_larger_than(4):
        lines.append(b"one\n")
    assert b"one\n" == path.read_bytes()


def test_lines_that_could_not_be_kept_are_cut_off(path, lines, monkeypatch):
    """Written, but not on the disk: a later look must not find what will be written again."""

    def fail(_):
        raise OSError(errno.EIO, "it broke")

    monkeypatch.setattr(whole_lines.os, "fdatasync", fail)
    with pytest.raises(OSError, match="it broke"):
        lines.append(b"one\n")
    assert b"" == path.read_bytes()


@given(st.binary(min_size=1, max_size=12))
def test_a_half_line_is_ended_and_never_removed(tmp_path_factory, found):
    """Whatever a crash left, or somebody else wrote: the next line is a line of its own."""
    path = tmp_path_factory.mktemp("lines") / "file"
    path.write_bytes(found)
    lines = WholeLines(path)
    lines.append(b"next\n")
    lines.close()
    end = b"" if found.endswith(b"\n") else b"\n"
    assert found + end + b"next\n" == path.read_bytes()


def test_a_file_knows_whether_it_was_moved(path, lines):
    """Moved, removed, or replaced by another one."""
    assert lines.is_at_its_path()
    path.rename(path.with_name("elsewhere"))
    assert not lines.is_at_its_path()
    path.write_text("another")
    assert not lines.is_at_its_path()
    path.unlink()
    path.with_name("elsewhere").rename(path)
    assert lines.is_at_its_path()


def test_what_others_append_is_counted(path, lines):
    """And what they cut off: logrotate's copytruncate leaves an empty file."""
    with path.open("ab") as other:
        other.write(b"theirs\n")
    assert 7 == lines.size_bytes
    os.truncate(path, 0)
    lines.append(b"ours\n")
    assert b"ours\n" == path.read_bytes()


def test_a_pipe_is_no_file(tmp_path):
    """With a reader or without: it is found out, not waited for, and left as it is."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    before = open_files()
    for _ in range(2):
        with pytest.raises(NotAFileError):
            WholeLines(pipe)
    with pytest.raises(NotAFileError):
        WholeLines(Path("/dev/null"))
    assert before == open_files()
    with pytest.raises(IsADirectoryError):
        WholeLines(tmp_path)
