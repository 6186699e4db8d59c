"""
Cut the bytes of neuron-monitor's output into reports.

One JSON object per line is the norm. Objects that are pretty-printed over several lines, or that
follow each other on one line, are accepted too. Anything that cannot be a report is dropped and
counted: a broken report never costs the report after it.

Pure: no file, no clock. It finds where an object begins and ends; `neuron_emitter.reports.report`
reads its content.
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
"""JSON strings, closed or not, and the braces outside of strings. A string cannot span lines."""

_REPORT_START: Final = b'{"neuron_runtime_data"'
"""
The start of a report. It cannot be part of a JSON string, where its quotes would have backslashes,
so it also marks a report after garbage.
"""
_REPORT_STARTS: Final = re.compile(b"(?=" + re.escape(_REPORT_START) + b")")

_UNINDENTED: Final = re.compile(rb"[^\n]*\n(?![ \t])")
"""An open object whose second line is not indented."""

_NO_OBJECT: Final = "a line is not a JSON object"
_NO_END: Final = "a report has no end"


class Framer:
    """
    Bytes in, reports out.

    Attributes:
        malformed: Input pieces dropped because they are not reports.

        last_problem: The problem of the last dropped piece, for a person.

        newest: The bytes of the newest report.
    """

    def __init__(self, max_report_bytes: int = MAX_REPORT_BYTES) -> None:
        self.malformed = 0
        self.last_problem = ""
        self.newest = b""
        self._limit = max_report_bytes
        self._too_long = f"a report has more than {max_report_bytes} bytes, the maximum"
        self._chunks: list[bytes] = []  # of the current line, without its end
        self._line_bytes = 0
        self._discarding = False  # True until a line that is too long ends
        self._open = bytearray()  # an object over several lines that has not ended yet
        self._depth = 0  # the number of its open braces
        self._resyncing = False  # True until a line that can begin an object

    def frame_chunk(self, chunk: bytes) -> Iterable[Report]:
        """Frame the next bytes. Return the reports that they complete."""
        # Usually a read contains exactly one report: it is neither copied nor searched.
        if (
            not self._chunks
            and not self._discarding
            and chunk.find(b"\n") + 1 == len(chunk) <= self._limit
            and (report := self._whole(chunk)) is not None
        ):
            return (report,)
        return self._split_lines(chunk)

    def end_input(self) -> Iterator[Report]:
        """End the input. Yield the reports that were complete without a line end."""
        yield from self._end_line(b"")
        if self._open:
            self._drop_open("the input ended in the middle of a report")
        self._resyncing = False

    def _split_lines(self, chunk: bytes) -> Iterator[Report]:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            yield from self._end_line(chunk[start:end])
            start = end + 1
        # Reports written without line breaks may never end a line.
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
            # otherwise it belongs to the dropped object
            elif not self._resyncing or part.startswith(b"{"):
                yield from self._objects(part)

    def _whole(self, line: bytes) -> Report | None:
        """Decode *line* if it is exactly one report."""
        try:
            report = decode(line)
        except ReportError:
            return None
        if self._open:
            # The end is missing because the monitor died while writing.
            self._drop_open(_NO_END)
        self._resyncing = False
        self.newest = line
        return report

    def _objects(self, text: bytes) -> Iterator[Report]:
        """
        Yield the reports that end in *text*, the open object first; the last may stay open.

        All broken input up to the next good report counts as one drop.
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
            piece = bytes(self._open)
            self._open = bytearray()
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
        Return True if *line* begins a new object although one is still open.

        A brace in the first column can be part of the open object only if nothing is indented and
        JSON allows a value there.
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
    Find the end of the object with *depth* open braces at *start*.

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
