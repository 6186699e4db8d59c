"""
Cut the bytes of neuron-monitor's output into reports.

One JSON object per line is the norm. Objects that are pretty-printed over
several lines, or that follow each other on one line, are accepted too. What
cannot be a report is dropped and counted: one broken report never costs the
one behind it.

Pure: no file, no clock. It knows where an object begins and ends, and leaves
what is in it to `neuron_emitter.reports.report`.
"""

from __future__ import annotations

import re
from re import DOTALL
from typing import TYPE_CHECKING, Final

from neuron_emitter.reports.report import Report, ReportError, decode

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_emitter.reports.groups import Whole

MAX_REPORT_BYTES: Final = 16 << 20  # the largest report seen has 0.44 MB (32 runtimes)

_STRINGS_AND_BRACES: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]', DOTALL)
"""Texts, closed or not, and the braces outside of them. JSON texts cannot span lines."""

_REPORT_START: Final = b'{"neuron_runtime_data"'
"""Where a report starts, also within garbage; in a text its quotes would have backslashes."""
_REPORT_STARTS: Final = re.compile(b"(?=" + re.escape(_REPORT_START) + b")")

_UNINDENTED: Final = re.compile(rb"[^\n]*\n(?![ \t])")
"""An open object whose second line is not indented."""

_NO_OBJECT: Final = "a line is not a JSON object"
_NO_END: Final = "a report has no end"


class Framer:
    """
    Bytes in, reports out.

    Attributes:
        malformed: Pieces dropped so far because they were no report.

        last_problem: What was wrong with the last of them, for a person.

        newest: The bytes of the newest report.
    """

    def __init__(self, max_report_bytes: int = MAX_REPORT_BYTES) -> None:
        self.malformed = 0
        self.last_problem = ""
        self.newest = b""
        self._limit = max_report_bytes
        self._too_long = f"a report has more than {max_report_bytes} bytes, the maximum"
        self._chunks: list[bytes] = []  # of the line being read, without its end
        self._line_bytes = 0
        self._discarding = False  # until the end of a line that is too long
        self._open = bytearray()  # an object over several lines whose end has not come yet
        self._depth = 0  # its open braces
        self._resyncing = False  # until a line that can begin an object

    def frame_chunk(self, chunk: bytes) -> Iterable[Report]:
        """Frame the next bytes: return the reports that they complete."""
        # Nearly always a read brings one report, whole: it is neither copied nor looked through.
        if (
            not self._chunks
            and not self._discarding
            and chunk.find(b"\n") + 1 == len(chunk) <= self._limit
            and (report := self._whole(chunk)) is not None
        ):
            return (report,)
        return self._split_lines(chunk)

    def end_input(self) -> Iterator[Report]:
        """End the input: yield the reports that were complete without a line end."""
        yield from self._end_line(b"")
        if self._open:
            self._drop_open("the input ended in the middle of a report")
        self._resyncing = False

    def _split_lines(self, chunk: bytes) -> Iterator[Report]:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            yield from self._end_line(chunk[start:end])
            start = end + 1
        # Reports written back to back may never see the end of a line.
        if not self._discarding and (last := chunk.rfind(_REPORT_START, start)) >= 0:
            yield from self._end_line(chunk[start:last])
            start = last
        self._gather(chunk[start:])

    def _gather(self, piece: bytes) -> None:
        if not piece or self._discarding:
            return
        self._chunks.append(piece)
        self._line_bytes += len(piece)
        if self._line_bytes > self._limit:
            self._chunks.clear()
            self._discarding = True
            self._drop_open(self._too_long)

    def _end_line(self, piece: bytes) -> Iterator[Report]:
        """Yield the reports of the line that ends with *piece*."""
        self._gather(piece)
        line = b"".join(self._chunks)
        self._chunks.clear()
        self._line_bytes = 0
        self._discarding = False
        if not line.strip():
            return
        if (report := self._whole(line)) is not None:
            yield report
            return
        for part in _REPORT_STARTS.split(line):
            if (report := self._whole(part)) is not None:
                yield report
            elif not self._resyncing or part.startswith(b"{"):  # else of what was dropped
                yield from self._objects(part)

    def _whole(self, line: bytes) -> Report | None:
        """Decode *line* if it is exactly one report."""
        try:
            report = decode(line)
        except ReportError:
            return None
        if self._open:
            # It lost its end when the monitor died while writing it.
            self._drop_open(_NO_END)
        self._resyncing = False
        self.newest = line
        return report

    def _objects(self, text: bytes) -> Iterator[Report]:
        """
        Yield the reports that end in *text*, the open object first; the last may stay open.

        Everything broken up to the next good report counts as one drop.
        """
        self._resyncing = False
        if self._lost_its_end(text):
            self._drop_open(_NO_END)
        if self._open:
            self._open += b"\n"
        problem = ""
        start = 0
        while self._open or (brace := text.find(b"{", start)) >= 0:
            if not self._open:
                problem = _NO_OBJECT if text[start:brace].strip() else problem
                start = brace
            end, self._depth = _object_end(text, start, self._depth)
            self._open += text[start:end]
            if end is None:
                break
            piece, self._open = bytes(self._open), bytearray()
            start = end
            try:
                report = decode(piece)
            except ReportError as error:
                problem = str(error)
                continue
            if problem:
                self._count(problem)
                problem = ""
            self.newest = piece
            yield report
        else:
            problem = _NO_OBJECT if text[start:].strip() else problem
        if problem:
            self._count(problem)
        if len(self._open) > self._limit:
            self._drop_open(self._too_long)
            self._resyncing = True

    def _lost_its_end(self, line: bytes) -> bool:
        """
        Whether *line* begins a new object although one is still open.

        A brace in the first column can stand within the open one only where nothing is
        indented, and where JSON lets a value stand.
        """
        if not self._open or not line.startswith(b"{"):
            return False
        is_value = self._open[-100:].rstrip().endswith((b"[", b",", b":"))
        return not (is_value and _UNINDENTED.match(self._open))

    def _drop_open(self, problem: str) -> None:
        """Count *problem* and drop the open object."""
        self._open = bytearray()
        self._depth = 0
        self._count(problem)

    def _count(self, problem: str) -> None:
        self.malformed += 1
        self.last_problem = problem


def _object_end(text: bytes, start: int, depth: int) -> tuple[Whole, int]:
    """
    Where the object ends of which *depth* braces are open at *start*.

    Returns:
        The place behind its last brace and 0, or None and the open braces at
        the end of *text*.
    """
    for mark in _STRINGS_AND_BRACES.finditer(text, start):
        brace = mark.group()
        if brace == b"{":
            depth += 1
        elif brace == b"}":
            depth -= 1
            if depth <= 0:
                return mark.end(), 0
    return None, depth
