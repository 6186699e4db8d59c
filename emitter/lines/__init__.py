"""Records as log lines."""

from emitter.lines.settings import (
    Choice,
    LineSettings,
    differences,
    line_settings,
    parse_choice,
)
from emitter.lines.writer import LineWriter

__all__ = [
    "Choice", "LineSettings", "LineWriter", "differences", "line_settings",
    "parse_choice",
]  # fmt: skip
