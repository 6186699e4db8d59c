"""Records as log lines."""

from emitter.lines.settings import (
    Choice,
    LineIdentity,
    LineSettings,
    differences,
    line_settings,
    parse_choice,
)
from emitter.lines.writer import LineWriter

__all__ = [
    "Choice", "LineIdentity", "LineSettings", "LineWriter", "differences", "line_settings",
    "parse_choice",
]  # fmt: skip
