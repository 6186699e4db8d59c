"""
`python -m local.monitor [-c FILE] [PLAY]`: neuron-monitor's own option, and the play.

PLAY is a `Play` as one JSON object; it can also come from the variable NEURON_SIM, so that the
emitter starts it with only `-c FILE`. The simulator reads the report period from that file; it
always reports every group. Exit codes: 0 ended as requested (also by SIGTERM, SIGINT or a closed
reader), 1 the play cannot be read, played or written, 2 usage error.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import signal
import sys
from pathlib import Path

import msgspec

from local.monitor.play import DEFAULT_PERIOD_S, Play, run


def main() -> int:
    """Run the simulator. Return the exit code."""
    for number in (signal.SIGTERM, signal.SIGINT):
        signal.signal(number, lambda *_: sys.exit(0))
    parser = argparse.ArgumentParser(prog="neuron-monitor", description=Play.__doc__)
    parser.add_argument("-c", "--config-file", type=Path, metavar="FILE")
    parser.add_argument("play", nargs="?", default=os.environ.get("NEURON_SIM", "{}"))
    chosen = parser.parse_args()
    try:
        play = msgspec.json.decode(chosen.play, type=Play)
        if play.period_s is None and chosen.config_file is not None:
            play = msgspec.structs.replace(play, period_s=_period_s(chosen.config_file))
        run(play, sys.stdout.fileno())
    except BrokenPipeError:
        return 0  # the reader has closed
    except (KeyError, OSError, ValueError) as error:
        print(f"neuron-monitor: {error}", file=sys.stderr)
        return 1
    return 0


def _period_s(path: Path) -> int:
    """
    Return the period in the configuration file at *path*.

    A value that is not a number of whole seconds silently becomes the default, as measured on an
    inf2 instance with "0.5s" and "1.0s".
    """
    period = str(json.loads(path.read_text("utf-8")).get("period"))
    match = re.fullmatch(r"([1-9][0-9]{0,8})s", period)
    return DEFAULT_PERIOD_S if match is None else int(match[1])


if __name__ == "__main__":
    sys.exit(main())
