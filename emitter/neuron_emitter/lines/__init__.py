"""Records as log lines."""

from neuron_emitter.lines.line_settings import (
    Choice,
    differences,
    parse_choice,
    require_lines,
)
from neuron_emitter.lines.writer import LineWriter

__all__ = ["Choice", "LineWriter", "differences", "parse_choice", "require_lines"]
