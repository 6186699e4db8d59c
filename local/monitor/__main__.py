"""
`python -m local.monitor [-c FILE] [PLAY]`: neuron-monitor's own option, and what to play.

PLAY is a `Play` as one JSON object; it can also come from the variable
NEURON_SIM, so that the emitter starts it with nothing but `-c FILE`.

Exit codes: 0 ended as told (also by SIGTERM, SIGINT or a reader that went
away), 1 what was asked for cannot be read, played or written, 2 usage error.
"""

from __future__ import annotations

import argparse
import os
import sys
from pathlib import Path

import msgspec

from local.monitor.configuration import (
    ConfigurationError,
    default_configuration,
    read_configuration,
)
from local.monitor.play import Play, run
from local.monitor.processes import OwnersError


def main() -> int:
    """Run the simulator; returns the exit code."""
    parser = argparse.ArgumentParser(prog="neuron-monitor", description=Play.__doc__)
    parser.add_argument("-c", "--config-file", type=Path, metavar="FILE")
    parser.add_argument("play", nargs="?", default=os.environ.get("NEURON_SIM", "{}"))
    chosen = parser.parse_args()
    try:
        file = chosen.config_file
        configuration = default_configuration() if file is None else read_configuration(file)
        play = msgspec.json.decode(chosen.play, type=Play)
        return run(play, configuration, sys.stdout.fileno())
    except (ConfigurationError, KeyError, OSError, OwnersError, msgspec.DecodeError) as error:
        print(f"neuron-monitor: {error}", file=sys.stderr)
        return 1


if __name__ == "__main__":
    sys.exit(main())
