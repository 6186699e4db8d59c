"""
Cut the bytes of neuron-monitor's output into reports.

One JSON object per line is the norm. Objects that are pretty-printed over
several lines, or that follow each other on one line, are accepted too. What
cannot be a report is dropped and counted: one broken report never costs the
one behind it.

Pure: no file, no clock. It knows where an object begins and ends, and leaves
what is in it to `emitter.reports.report`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final

from emitter.reports.report import Report, ReportError, decode, may_begin_object

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_REPORT_BYTES: Final = 16 << 20  # the largest report seen has 0.44 MB (32 runtimes)

_CHECKED_FROM_BYTES: Final = 64 << 10
"""An open object is checked when it has so many bytes, and each time it has doubled."""

_MARKS: Final = re.compile(rb'"[^"\\]*(?:\\.[^"\\]*)*"?|[{}]', re.DOTALL)
"""Texts, closed or not, and the braces outside of them."""

_REPORT_STARTS: Final = re.compile(rb'(?=\{"neuron_runtime_data")')
"""Where a report starts within what is none; in a text its quotes would have backslashes."""

_NO_OBJECT: Final = "a line is not a JSON object"
_NO_END: Final = "a report has no end"


class Framer:
    """
    Bytes in, reports out.

    Attributes:
        malformed: Pieces dropped so far because they were no report.

        last_problem: What was wrong with the newest of them, for a person.

        keeps_newest: Whether the bytes of a report are kept until the next one.

        newest: These bytes; empty unless they are kept.
    """

    def __init__(self, max_report_bytes: int = MAX_REPORT_BYTES) -> None:
        self.malformed = 0
        self.last_problem = ""
        self.keeps_newest = False
        self.newest = b""
        self._limit = max_report_bytes
        self._too_long = f"a report has more than {max_report_bytes} bytes, the maximum"
        self._chunks: list[bytes] = []  # of the line being read, without its end
        self._line_bytes = 0
        self._split_from_bytes = 0  # length at which an open line is looked through again
        self._discarding = False  # until the end of a line that is too long
        self._pending = bytearray()  # an object that is still open, without its last line end
        self._pending_lines = 0
        self._is_indented = False  # its second line
        self._last_line = b""
        self._checked_from_bytes = _CHECKED_FROM_BYTES
        self._depth = 0
        self._resyncing = False  # until a line that can begin an object

    def feed(self, chunk: bytes) -> Iterator[Report]:
        """Take the next bytes; give the reports that they complete."""
        # Nearly always a read brings one report, whole: the shortest way for that.
        if (
            chunk.find(b"\n") + 1 == len(chunk) <= self._limit
            and not self._chunks
            and not self._pending
            and not self._discarding
        ):
            try:
                report = decode(chunk)
            except ReportError:
                pass
            else:
                if self.keeps_newest:
                    self.newest = chunk
                self._resyncing = False
                return iter((report,))
        return self._lines(chunk)

    def _lines(self, chunk: bytes) -> Iterator[Report]:
        start = 0
        while (end := chunk.find(b"\n", start)) >= 0:
            if self._chunks or self._discarding:
                self._gather(chunk[start:end])
                line = self._end_of_line()
            else:
                line = chunk[start:end]
            start = end + 1
            if len(line) > self._limit:
                self._drop(self._too_long)
            elif b"{" not in line:
                yield from self._without_brace(line)
            elif (report := self._whole(line)) is not None:
                yield report
            else:
                yield from self._pieces(line)
        if start < len(chunk):
            tail = chunk[start:]
            # Objects written back to back may never see the end of a line.
            is_joined = b"}{" in tail or (
                bool(self._chunks) and tail[:1] == b"{" and self._chunks[-1][-1:] == b"}"
            )
            self._gather(tail)
            if is_joined and self._line_bytes >= self._split_from_bytes:
                yield from self._split_open_line()

    def end(self) -> Iterator[Report]:
        """Say that no more bytes will come; yield what was complete without a line end."""
        yield from self._pieces(self._end_of_line())
        if self._pending:
            self._drop("the input ended in the middle of a report")
        self._resyncing = False

    def _without_brace(self, line: bytes) -> Iterator[Report]:
        """A line that can neither be a report nor begin one: there may be millions."""
        if self._resyncing or not line.strip():
            return
        if self._pending:
            yield from self._continue(line)
        else:
            self._count(_NO_OBJECT)

    def _decode(self, piece: bytes) -> Report:
        report = decode(piece)
        if self.keeps_newest:
            self.newest = piece
        return report

    def _gather(self, piece: bytes) -> None:
        if not piece or self._discarding:
            return
        self._chunks.append(piece)
        self._line_bytes += len(piece)
        if self._line_bytes > self._limit:
            self._end_of_line()
            self._discarding = True
            self._drop(self._too_long)

    def _end_of_line(self) -> bytes:
        line = b"".join(self._chunks)
        self._chunks.clear()
        self._line_bytes = 0
        self._split_from_bytes = 0
        self._discarding = False
        return line

    def _whole(self, line: bytes) -> Report | None:
        """The report that *line* is, if it is one and nothing else."""
        try:
            report = self._decode(line)
        except ReportError:
            return None
        if self._pending:
            # The open one lost its end when the monitor died while writing it.
            self._drop(_NO_END)
        self._resyncing = False
        return report

    def _pieces(self, line: bytes) -> Iterator[Report]:
        """The reports in a line, or ended by it, when the line is not exactly one report."""
        if not line.strip():
            return
        for part in _REPORT_STARTS.split(line):
            if (report := self._whole(part)) is not None:
                yield report
            else:
                yield from self._part(part)

    def _part(self, part: bytes) -> Iterator[Report]:
        """A line, or what stands in it up to the place where a report starts."""
        if self._resyncing and not part.startswith(b"{"):
            return  # belongs to what was dropped
        self._resyncing = False
        if self._pending and self._ends_open_one(part):
            self._drop(_NO_END)
        if self._pending:
            yield from self._continue(part)
        else:
            yield from self._objects(part)

    def _ends_open_one(self, line: bytes) -> bool:
        """
        Whether a line begins another object although one is open, which lost its end.

        A brace in the first column can stand within the open one only where nothing is
        indented, and where JSON lets a value stand.
        """
        if not line.startswith(b"{"):
            return False
        if self._pending_lines == 1 or self._is_indented:
            return True
        return self._last_line.rstrip()[-1:] not in (b"[", b",", b":")

    def _continue(self, line: bytes) -> Iterator[Report]:
        end, depth = _object_end(line, 0, self._depth)
        if not self._hold(line[:end], depth):
            return
        if end is not None:
            whole = bytes(self._pending)
            self._let_go()
            try:
                yield self._decode(whole)
            except ReportError as error:
                self._count(str(error))
            yield from self._objects(line[end:])

    def _objects(self, text: bytes) -> Iterator[Report]:
        """
        The objects that stand in *text* one after the other; an open one stays pending.

        All that is broken up to the next good one is one drop.
        """
        problem = ""
        start = 0
        while (brace := text.find(b"{", start)) >= 0:
            if text[start:brace].strip():
                problem = _NO_OBJECT
            end, depth = _object_end(text, brace, 0)
            if end is None:
                self._hold(text[brace:], depth)
                break
            try:
                report = self._decode(text[brace:end])
            except ReportError as error:
                problem = str(error)
            else:
                if problem:
                    self._drop(problem)
                    problem = ""
                yield report
            start = end
        else:
            problem = _NO_OBJECT if text[start:].strip() else problem
        if problem:
            self._count(problem)

    def _split_open_line(self) -> Iterator[Report]:
        line = b"".join(self._chunks)
        start = 0
        depth = self._depth if self._pending and not self._ends_open_one(line) else 0
        # Within the open object braces may stand in its texts; the next begins behind its end.
        brace = 0 if depth else line.find(b"{")
        while brace >= 0:
            end, depth = _object_end(line, brace, depth)
            if end is None:
                break
            start = end
            brace = line.find(b"{", start)
        self._chunks[:] = [line[start:]] if start < len(line) else []
        self._line_bytes = len(line) - start
        # Looked through again and again, a long object would cost its square.
        self._split_from_bytes = 2 * self._line_bytes
        yield from self._pieces(line[:start])

    def _hold(self, line: bytes, depth: int) -> bool:
        """Keep a line of an open object, unless that becomes too long or can be none."""
        if self._pending:
            self._pending += b"\n"
        self._pending += line
        self._pending_lines += 1
        if self._pending_lines == 2:
            self._is_indented = line[:1] in (b" ", b"\t")
        self._last_line = line
        self._depth = depth
        size = len(self._pending)
        problem = self._too_long if size > self._limit else ""
        if size >= self._checked_from_bytes and depth:
            self._checked_from_bytes = 2 * size
            problem = problem or ("" if may_begin_object(self._pending) else _NO_OBJECT)
        if problem:
            self._drop(problem)
            self._resyncing = True
        return not problem

    def _let_go(self) -> None:
        self._pending = bytearray()
        self._pending_lines = 0
        self._is_indented = False
        self._last_line = b""
        self._checked_from_bytes = _CHECKED_FROM_BYTES
        self._depth = 0

    def _drop(self, problem: str) -> None:
        self._let_go()
        self._count(problem)

    def _count(self, problem: str) -> None:
        self.malformed += 1
        self.last_problem = problem


def _object_end(text: bytes, start: int, depth: int) -> tuple[int | None, int]:
    """
    Where the object ends of which *depth* braces are open at *start*.

    Returns:
        The place behind its last brace and 0, or None and the open braces at
        the end of *text*. JSON texts cannot span lines.
    """
    for mark in _MARKS.finditer(text, start):
        brace = mark.group()
        if brace == b"{":
            depth += 1
        elif brace == b"}":
            depth -= 1
            if depth <= 0:
                return mark.end(), 0
    return None, depth
