"""
What the emitter says on standard error: one event a line, key=value behind it.
"""

from __future__ import annotations

import logging
import sys
from typing import Final

_STANDARD: Final = frozenset(vars(logging.makeLogRecord({}))) | {"message", "asctime", "taskName"}


class _KeyValueFormatter(logging.Formatter):
    """
    `neuron-emf: warning: records dropped count=12 reason=too_old`.
    """

    def format(self, record: logging.LogRecord) -> str:
        """
        The event, then what was given as `extra`.
        """
        pairs = (f"{name}={value}" for name, value in vars(record).items() if name not in _STANDARD)
        words = [f"neuron-emf: {record.levelname.lower()}: {record.getMessage()}", *pairs]
        line = " ".join(words)
        return f"{line}\n{self.formatException(record.exc_info)}" if record.exc_info else line


def log_to_stderr(*, verbose: bool) -> None:
    """
    Send our own events to standard error; libraries only from warnings on.
    """
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(_KeyValueFormatter())
    logging.basicConfig(level=logging.WARNING, handlers=[handler], force=True)
    logging.getLogger("emitter").setLevel(logging.DEBUG if verbose else logging.INFO)
