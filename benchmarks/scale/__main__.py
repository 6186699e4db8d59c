"""`python -m benchmarks.scale`: print docs/explanation/scale.md; `--measure` measures it anew."""

from __future__ import annotations

import argparse
import platform
import sys
import tempfile
from datetime import datetime, timezone
from pathlib import Path
from typing import TYPE_CHECKING

from benchmarks.scale import measurement
from benchmarks.scale.page import page
from neuron_emf.cost.measurements import read

if TYPE_CHECKING:
    from collections.abc import Sequence


def main(arguments: Sequence[str]) -> int:
    """Print the page; the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.scale",
        description="Print docs/explanation/scale.md: what a fleet takes of an account, and costs.",
    )
    parser.add_argument(
        "--measure",
        action="store_true",
        help="find the sizes and times again first, about ten minutes, and keep them",
    )
    if parser.parse_args(arguments).measure:
        today = datetime.now(tz=timezone.utc).date().isoformat()
        with tempfile.TemporaryDirectory(prefix="neuron-emf-scale-") as name:
            measurement.write(measurement.measure(Path(name), today, _machine()))
    sys.stdout.write(page(read()))
    return 0


def _machine() -> str:
    return f"Python {platform.python_version()}, {platform.system()} {platform.machine()}"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
