"""Programs that show what is claimed; their short forms are part of the tests."""

import sys
from pathlib import Path

# Where the functions live: a root folder of its own, which is not installed.
sys.path += [str(Path(__file__).resolve().parents[1] / root) for root in ("emitter", "lambda")]
