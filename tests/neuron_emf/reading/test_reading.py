"""Lines of files, each record once, and the moments that people type."""

from __future__ import annotations

import gzip
import io
import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.reading import Records, lines_in, moment_ms
from neuron_emitter.errors import SettingsError, SourceError
from neuron_wire import parse
from neuron_wire.line import MAX_LINE_CHARS
from proof.factories.records import message, record


def line(**changes):
    """Return the line of a record with these members."""
    return message(record(**changes))


def test_the_lines_of_all_files_in_their_order(tmp_path):
    """The lines of all files are read in order, plain or gzip, without empty lines."""
    (tmp_path / "a").write_text("one\n\n  \ntwo", "utf-8")
    (tmp_path / "b").write_bytes(gzip.compress(b"three\r\nfour\n"))
    (tmp_path / "c").write_bytes(b"")
    paths = [tmp_path / name for name in "abc"]
    assert ["one", "two", "three", "four"] == list(lines_in(paths))


@pytest.mark.parametrize("packed", [False, True])
def test_standard_input_is_a_file_like_others(monkeypatch, packed):
    """Standard input, plain or gzip, is read as a file."""
    content = line().encode()
    given = io.BufferedReader(io.BytesIO(gzip.compress(content) if packed else content))
    stdin = io.TextIOWrapper(given)
    monkeypatch.setattr(sys, "stdin", stdin)
    advanced = []
    lines = lines_in([Path("-")], lambda *how_far: advanced.append(how_far))
    assert [record()] == [parse(line) for line in lines]
    assert [] == advanced, "the length is unknown"


def test_a_line_that_no_event_can_be_costs_itself_only(tmp_path):
    """A line longer than an event costs only itself: the next line is read in bounded memory."""
    path = tmp_path / "long"
    longest = line() + " " * (MAX_LINE_CHARS - len(line()))
    path.write_text(f"{'x' * (3 * MAX_LINE_CHARS)}\n{longest}\n{line(seq=2)}\n", "utf-8")
    records = Records()
    assert [record(), record(seq=2)] == list(records.read_records(lines_in([path])))
    assert 1 == records.unreadable
    assert MAX_LINE_CHARS + 1 == max(len(line) for line in lines_in([path]))


def cut(path):
    """Remove the last bytes of a gzip file."""
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
    """A file that cannot be read is named with the reason; a missing file is a usage error."""
    path = tmp_path / "file.gz"
    make(path)
    with pytest.raises(error, match=words) as found:
        list(lines_in([path]))
    assert str(path) in str(found.value)


@given(st.data())
def test_lines_in_any_order_and_number_give_each_record_once(data):
    """Lines in any order and number give each record once, and count copies across calls."""
    lines = [line(seq=seq, instance_id=f"i-{seq % 3}") for seq in range(1, 6)]
    copies = data.draw(st.lists(st.sampled_from(lines)))
    cut = data.draw(st.integers(0, len(copies)))
    records = Records()
    distinct = [*records.read_records(copies[:cut]), *records.read_records(copies[cut:])]
    assert [parse(fromkey) for fromkey in dict.fromkeys(copies)] == distinct
    assert len(set(copies)) == records.read
    assert len(copies) - len(set(copies)) == records.repeated


def test_a_line_that_is_not_a_record_is_counted():
    """A line that is not a record is counted; it neither stops the reading nor is a minute."""
    records = Records()
    lines = [
        "Starting up",
        "[1, 2]",
        '{"level": "INFO"}',
        line().replace('"Schema":1', '"Schema":2'),
        line().replace('"CoveredSeconds":60', '"CoveredSeconds":61'),
        '{"Schema":1,"Kind":"runtime"}',
        '{"Schema":1,"Kind":"[red]x"}',
        line(),
    ]
    assert [record()] == list(records.read_records(lines))
    assert 5 == records.unreadable


READING_NOW_MS = 1_763_625_600_000  # 2025-11-20T08:00:00Z
UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86_400, "w": 604_800}


@given(st.integers(1, 999_999), st.sampled_from(sorted(UNITS_S)))
def test_a_period_is_a_number_and_a_unit(number, unit):
    """A period is a number and a unit; its moment is so far before now, and not before 1970."""
    expected = number * UNITS_S[unit] * 1000
    assert max(0, READING_NOW_MS - expected) == moment_ms(
        f" {number}{unit} ", "--since", READING_NOW_MS
    )


@pytest.mark.parametrize(
    "text",
    [
        "2025-11-20T08:00:00Z",
        "2025-11-20T08:00:00z",
        "2025-11-20T08:00",
        "2025-11-20 08:00:00",
        "2025-11-20T09:00:00+01:00",
    ],
)
def test_a_time_without_an_offset_is_utc(text):
    """A calendar moment is UTC unless it has a zone."""
    assert READING_NOW_MS == moment_ms(text, "--since", 0)


@pytest.mark.parametrize("text", ["", "5", "m", "0m", "-5m", "5 m", "1.5h", "5M", "yesterday"])
def test_a_text_that_is_not_a_moment_is_refused(text):
    """A text that is neither period nor moment is refused with the flag and an example."""
    with pytest.raises(SettingsError, match=r"--since .* such as"):
        moment_ms(text, "--since", READING_NOW_MS)
