"""
What the emitter and the stack cost on this machine, each figure beside its limit.

`others.toml` has what other ways took when they were last measured beside ours.
"""

from __future__ import annotations

import sys
from pathlib import Path

# Where the functions live: a root folder of its own, which is not installed.
sys.path += [str(Path(__file__).resolve().parent.parent / root) for root in ("emitter", "lambda")]
