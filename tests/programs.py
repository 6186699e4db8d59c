"""Run programs to their end and return their output."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_program(command: Sequence[object], **options: Any) -> subprocess.CompletedProcess[str]:
    """Run *command* to its end, and return its output and exit code."""
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)
