"""Lines of files, whatever wrote them."""

from __future__ import annotations

import gzip
import io
import os
import sys
import threading
from pathlib import Path

import pytest

from emitter.errors import SettingsError, SourceError
from neuron_emf.reading import Records, lines_in
from neuron_wire import parse
from neuron_wire.line import MAX_LINE_CHARS
from tests.neuron_emf.reading.lines import line, record


def test_the_lines_of_all_files_in_their_order(tmp_path):
    """Plain and gzip alike, without empty lines, with or without an end of the last one."""
    (tmp_path / "a").write_text("one\n\n  \ntwo", "utf-8")
    (tmp_path / "b").write_bytes(gzip.compress(b"three\r\nfour\n"))
    (tmp_path / "c").write_bytes(b"")
    paths = [tmp_path / name for name in "abc"]
    assert ["one", "two", "three", "four"] == list(lines_in(paths))


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_a_file_like_others(monkeypatch, packed):
    """`aws logs tail ... | neuron-emf report -`."""
    content = line().encode()
    given = io.BufferedReader(io.BytesIO(gzip.compress(content) if packed else content))
    stdin = io.TextIOWrapper(given)
    monkeypatch.setattr(sys, "stdin", stdin)
    advanced = []
    lines = lines_in([Path("-")], lambda *how_far: advanced.append(how_far))
    assert [record()] == [parse(one) for one in lines]
    assert [] == advanced, "nobody knows how much there is"


def test_what_stands_before_the_json_is_left_out(tmp_path):
    """The time of `aws logs tail`, and with --format detailed the stream, too."""
    path = tmp_path / "tail"
    path.write_text(f"2025-11-20T08:00:00.000Z {line()}\n2025-11-20 i-0 {line(seq=2)}\n", "utf-8")
    assert [record(), record(seq=2)] == list(Records().read_records(lines_in([path])))


def test_a_line_that_no_event_can_be_costs_itself_only(tmp_path):
    """However long it is: what follows it is read, and memory is not asked for it."""
    path = tmp_path / "long"
    longest = line() + " " * (MAX_LINE_CHARS - len(line()))
    path.write_text(f"{'x' * (3 * MAX_LINE_CHARS)}\n{longest}\n{line(seq=2)}\n", "utf-8")
    records = Records()
    assert [record(), record(seq=2)] == list(records.read_records(lines_in([path])))
    assert {"too_long": 1} == records.dropped
    assert MAX_LINE_CHARS + 1 == max(len(one) for one in lines_in([path]))


def test_bytes_that_are_no_text_cost_their_line_only(tmp_path):
    """A disk was full in the middle of a line."""
    path = tmp_path / "cut"
    path.write_bytes(b'{"Schema":1,\xff\xfe\x00\n' + line().encode() + b"\n")
    records = Records()
    assert [record()] == list(records.read_records(lines_in([path])))
    assert 1 == records.unreadable


def test_a_pipe_is_read_without_knowing_its_size(tmp_path):
    """A named pipe has no place to tell."""
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    other = tmp_path / "other"
    other.write_text("first\n", "utf-8")
    writer = threading.Thread(target=pipe.write_text, args=("second\n",))
    writer.start()
    found = list(lines_in([other, pipe], lambda *_: None))
    writer.join()
    assert ["first", "second"] == found


def cut(path):
    """Leave the last bytes of a gzip file out."""
    path.write_bytes(gzip.compress(b"x" * 999)[:-9])


@pytest.mark.parametrize(
    ("make", "error", "words"),
    [
        (Path.absolute, SettingsError, "No such file"),
        (Path.mkdir, SettingsError, "Is a directory"),
        (cut, SourceError, "Copy it again"),
        (lambda path: path.write_bytes(b"\x1f\x8b\x08garbage......"), SourceError, "Copy it again"),
    ],
    ids=["missing", "directory", "cut", "broken"],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, make, error, words):
    """
    With what is wrong with it: a name that is none is a usage error, half a file a failed source.
    """
    path = tmp_path / "file.gz"
    make(path)
    with pytest.raises(error, match=words) as found:
        list(lines_in([path]))
    assert str(path) in str(found.value)


def test_a_closed_standard_input_is_said(monkeypatch):
    """As a daemon without one has it."""
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(SourceError, match="closed"):
        list(lines_in([Path("-")]))
