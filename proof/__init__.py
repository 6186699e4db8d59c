"""Programs that prove claims; their short forms are part of the tests."""

import sys
from pathlib import Path

# The functions' source root, which is not installed.
sys.path += [str(Path(__file__).resolve().parents[1] / root) for root in ("emitter", "lambda")]
