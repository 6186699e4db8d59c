"""
What a program said on its standard error before it ended, fit to be shown.

It may be megabytes, in any encoding, and colored: only its end is kept, and
neither a terminal nor a log that shows it can be told anything by it.
"""

from __future__ import annotations

import re
from typing import Final

TAIL_BYTES: Final = 2048
MAX_CHARS: Final = 600
LINE_MARK: Final = " | "

_ESCAPES: Final = re.compile(
    r"[\x1b\x9b](?:"
    r"[\]PX^_][^\x07\x1b\x9c]*(?:\x07|\x1b\\|\x9c)?"  # titles, links and other texts for a terminal
    r"|\[?[0-?]*[ -/]*[@-~]?"  # colors, movements and the rest
    r")"
)


class LastWords:
    """The newest bytes of a stream, at most `TAIL_BYTES`."""

    def __init__(self) -> None:
        self._tail = b""
        self._is_cut = False

    def hear(self, chunk: bytes) -> None:
        """Take the next bytes."""
        tail = self._tail + chunk
        self._is_cut = self._is_cut or len(tail) > TAIL_BYTES
        self._tail = tail[-TAIL_BYTES:]

    def text(self, max_chars: int = MAX_CHARS) -> str:
        """The last lines, joined by a bar: printable, at most *max_chars* long."""
        lines = _printable_lines(self._tail)
        if self._is_cut and len(lines) > 1:
            lines = lines[1:]  # it begins in the middle
        return LINE_MARK.join(lines)[-max_chars:].strip()

    def last_line(self, max_chars: int = 200) -> str:
        """The last line that says anything."""
        lines = _printable_lines(self._tail)
        return lines[-1][:max_chars] if lines else ""


def _printable_lines(tail: bytes) -> list[str]:
    text = _ESCAPES.sub("", tail.decode("utf-8", "replace"))
    lines = []
    for line in re.split(r"[\r\n]+", text):
        shown = "".join(char if char.isprintable() else " " for char in line)
        if shown := " ".join(shown.split()):
            lines.append(shown)
    return lines
