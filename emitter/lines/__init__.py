"""Records as log lines."""

from emitter.lines.settings import (
    Choice,
    differences,
    parse_choice,
    require_lines,
)
from emitter.lines.writer import LineWriter

__all__ = ["Choice", "LineWriter", "differences", "parse_choice", "require_lines"]
