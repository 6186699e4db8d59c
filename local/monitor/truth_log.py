"""
Writes down what was produced, one compact line per report, after the report itself.

The members are described where they are read, in `truth`. Several simulators
may share a file: each line is appended by a single call.
"""

from __future__ import annotations

import json
import os
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from pathlib import Path

    from local.monitor.report import Produced

VERSION: Final = 1


class TruthLog:
    """
    The truth file of one run.

    Attributes:
        constants: Members that are the same in every line of the run.
    """

    def __init__(self, path: Path, constants: dict[str, object]) -> None:
        self.constants = {"version": VERSION, **constants}
        self._descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o644)

    def append(self, number: int, at_ms: int, produced: Produced) -> None:
        """Note that report *number* was written at *at_ms*, milliseconds since the epoch."""
        held = produced.held
        line = {
            **self.constants, "report": number, "at_ms": at_ms, "period_s": produced.period_s,
            "runtimes": produced.runtimes, "percents": produced.percents,
            "held": None if held is None else "".join("1" if one else "0" for one in held),
            "executions": produced.executions, "ecc_rises": produced.ecc_rises,
        }  # fmt: skip
        os.write(self._descriptor, json.dumps(line, separators=(",", ":")).encode() + b"\n")

    def close(self) -> None:
        """Close the file."""
        os.close(self._descriptor)
