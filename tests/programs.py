"""How tests run programs: to their end, with what they said."""

from __future__ import annotations

import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Sequence


def run_program(command: Sequence[object], **options: Any) -> subprocess.CompletedProcess[str]:
    """*command* with what it printed, however it ended."""
    words = [str(word) for word in command]
    return subprocess.run(words, capture_output=True, text=True, check=False, **options)
