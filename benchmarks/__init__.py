"""
The cost of the emitter and the stack on this machine, each figure next to its limit.

`others.toml` has figures of other tools, measured at the same time as ours.
"""

from __future__ import annotations

import sys
from pathlib import Path

# The functions' source root, which is not installed.
sys.path += [str(Path(__file__).resolve().parent.parent / root) for root in ("emitter", "lambda")]
