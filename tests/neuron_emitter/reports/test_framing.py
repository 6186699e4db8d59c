"""Framing: a report is usually one line. Damaged input costs only itself."""

from __future__ import annotations

import json
from itertools import pairwise
from typing import TYPE_CHECKING

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from neuron_emitter.reports.framing import MAX_REPORT_BYTES, Framer
from tests.neuron_emitter.neuron_reports import (
    counters,
    executions,
    memory,
    report,
    runtime,
    written,
)

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_emitter.reports.report import Report

PIDS = st.integers(min_value=1, max_value=4_194_304)
# A tag is the user's text: up to 255 characters, also braces and quotes.
ODD_TAGS = st.text(st.sampled_from('}{"\\[],: a\u00e9\U0001f600'), max_size=12)


def document(pid: int = 1, tag: str = "app") -> dict[str, object]:
    """Return a report that its PID identifies."""
    groups = (counters([27.02, 19.35, 0, 0]), memory(models=[(0, 0)]), executions(300))
    return report(runtime(*groups, pid=pid, tag=tag))


def line(pid: int = 1, tag: str = "app") -> bytes:
    """Return a report as neuron-monitor writes it, without a line end."""
    return written(document(pid, tag))


def pretty(pid: int) -> bytes:
    """Return a report over many lines, as `jq .` writes it."""
    return json.dumps(document(pid), indent=2).encode()


def pids(reports: Iterable[Report]) -> list[int | None]:
    """Return the PIDs of the reports, in order."""
    return [entry.pid for report in reports for entry in report.neuron_runtime_data or ()]


def frame(*chunks: bytes, framer: Framer | None = None) -> list[int | None]:
    """Return the PIDs of reports in these chunks, up to the end of the input."""
    framer = Framer() if framer is None else framer
    reports = [framed_report for chunk in chunks for framed_report in framer.frame_chunk(chunk)]
    return pids([*reports, *framer.end_input()])


def framed(*chunks: bytes, **options: int) -> tuple[list[int | None], int]:
    """Return the PIDs of reports in these chunks, and the number of drops."""
    framer = Framer(**options)
    return frame(*chunks, framer=framer), framer.malformed


def cut(text: bytes, places: Iterable[int]) -> list[bytes]:
    """Return *text* in chunks that end at *places*."""
    bounds = sorted({0, len(text), *(place % (len(text) + 1) for place in places)})
    return [text[start:end] for start, end in pairwise(bounds)]


@pytest.mark.parametrize("first", [line(1), pretty(1)], ids=["one line", "many lines"])
def test_a_report_is_read_as_its_last_line_ends(first):
    """A report is read at the end of its last line, without waiting for the next report."""
    framer = Framer()
    assert [] == pids(framer.frame_chunk(first))
    assert [1] == pids(framer.frame_chunk(b"\n"))
    assert [2, 3] == pids(framer.frame_chunk(line(2) + b"\n" + line(3) + b"\n"))
    assert 0 == framer.malformed


def test_a_stream_without_line_ends_is_read_as_it_comes():
    """
    Without line ends, a report is read at the start of the next report at the latest.

    This also holds if each read ends with a report.
    """
    framer = Framer()
    read_pids: list[int | None] = []
    for pid in range(1, 10):
        read_pids += pids(framer.frame_chunk(line(pid)))
        assert list(range(1, pid)) == read_pids[: pid - 1]
    assert list(range(1, 10)) == read_pids + pids(framer.end_input())
    assert 0 == framer.malformed


def padded(bytes_: int, pid: int = 1) -> bytes:
    """Return a report of exactly this many bytes."""
    whole = {"padding": "", **document(pid)}
    return written({**whole, "padding": "x" * (bytes_ - len(written(whole)))})


def test_the_bound_is_16_mib():
    """A report of 16 MiB is read. With one byte more it is dropped and counted."""
    assert 16 * 1024 * 1024 == MAX_REPORT_BYTES
    framer = Framer()
    longest = padded(MAX_REPORT_BYTES, 1)
    longer = padded(MAX_REPORT_BYTES + 1, 2)
    assert [1, 3] == frame(longest + b"\n", longer + b"\n", line(3) + b"\n", framer=framer)
    assert 1 == framer.malformed
    assert "16777216" in framer.last_problem


@pytest.mark.parametrize("chunk_bytes", [100, 65_536, 1 << 30])
def test_an_oversized_line_is_one_drop(chunk_bytes):
    """An oversized line is one drop with all that is on the line, for any size of reads."""
    text = padded(4096, 1) + b"\n" + padded(4097, 2) + b"\n" + padded(20_000, 3) + b"\n" + line(4)
    chunks = [text[at : at + chunk_bytes] for at in range(0, len(text), chunk_bytes)]
    read_pids, dropped = framed(*chunks, max_report_bytes=4096)
    assert [1, 4] == read_pids
    assert 2 == dropped


@pytest.mark.parametrize("kept", [1, 20, 50, 100, 300])
def test_a_report_that_follows_half_a_line_without_a_line_end_is_read(kept):
    """A report after half a line is read, as when a shell loop restarts a killed monitor."""
    read_pids, dropped = framed(line(1)[:kept] + line(2) + b"\n" + line(3) + b"\n")
    assert [2, 3] == read_pids
    assert 1 == dropped


@example([(1, "{}{", 1)], [74])  # braces in a text of an object over many lines
@example([(1, "{}{", 1), (2, "x", "joined"), (3, "}{", "joined")], [74, 80, 400, 420])
@given(
    st.lists(
        st.tuples(PIDS, ODD_TAGS, st.sampled_from(["line", "joined", 0, 1, 2, 4, "\t"])), max_size=4
    ),
    st.lists(st.integers(min_value=0, max_value=20_000), max_size=12),
)
def test_chunks_do_not_matter(entries, places):
    """Reports are equal for any indentation and any cuts into reads, without a drop."""
    text = b""
    for pid, tag, way in entries:
        indent = None if way in {"line", "joined"} else way
        text += json.dumps(document(pid, tag), indent=indent).encode()
        text += b"" if way == "joined" else b"\n"
    read_pids, dropped = framed(*cut(text, places))
    assert [pid for pid, _, _ in entries] == read_pids
    assert 0 == dropped


ANY_GARBAGE = st.one_of(
    st.binary(max_size=40),
    st.text(st.sampled_from('{}[]":,\\ n1'), max_size=20).map(str.encode),
    st.integers(min_value=1, max_value=1000).map(lambda kept: line(9)[: kept % len(line(9))]),
    st.integers(min_value=1, max_value=1000).map(lambda gone: line(9)[gone:]),
).map(lambda text: text.replace(b"\n", b""))


@given(
    st.lists(st.one_of(PIDS.filter(lambda pid: pid != 9), ANY_GARBAGE), max_size=12),
    st.lists(st.integers(min_value=0, max_value=20_000), max_size=8),
)
def test_garbage_never_loses_a_whole_good_line(items, places):
    """Each complete line with a report is read, in order, whatever other lines contain."""
    text = b"".join((line(item) if isinstance(item, int) else item) + b"\n" for item in items)
    # Two halves of 9 may be adjacent and form a report.
    read_pids = [pid for pid in frame(*cut(text, places)) if pid != 9]
    assert [item for item in items if isinstance(item, int)] == read_pids
