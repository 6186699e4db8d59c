"""
Thirty hours of reports of one instance on which things keep changing.

The simulated neuron-monitor makes a minute of them; here they are repeated
under other process ids, with runtimes that come and go, errors whose text has a
number in it, and now and then a line that is none. What a reader remembers for
each of these, and never forgets, it has thousands of by the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from emitter_process import environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PERIOD_S = 5
REPORTS_A_MINUTE = 12
REPORTS_AN_HOUR = 720
BROKEN_EVERY = 701
WRONG_TYPE_EVERY = 499
NOBODY_EVERY = 97
SIMULATED = 13  # the first covers milliseconds


def simulated(folder: Path, *arguments: str) -> list[bytes]:
    """
    Reports of the simulated neuron-monitor, with their line ends.
    """
    ended = subprocess.run(
        [sys.executable, "-m", "local.monitor", "--no-wait", *arguments],
        stdout=subprocess.PIPE,
        env=environment(folder),
        check=True,
    )
    return ended.stdout.splitlines(keepends=True)


def history(folder: Path, reports: int) -> Iterator[bytes]:
    """
    That many lines, a report each but for the broken ones.
    """
    arguments = ("--instance-type", "trn1.32xlarge", "--scenario", "multi-runtime")
    templates = simulated(folder, *arguments, "--reports", str(SIMULATED))[1:]
    pids = [one["pid"] for one in json.loads(templates[0])["neuron_runtime_data"]]
    for number in range(reports):
        line = templates[number % len(templates)]
        if is_broken(number):
            yield line[: len(line) // 3] + b"\n"
            continue
        if number % NOBODY_EVERY == NOBODY_EVERY - 1:
            document = json.loads(line)
            document["neuron_runtime_data"] = []
            yield json.dumps(document, separators=(",", ":")).encode() + b"\n"
            continue
        if number % WRONG_TYPE_EVERY == WRONG_TYPE_EVERY - 1:
            line = line.replace(b'"memory_info":{', b'"memory_info":%d,"other":{' % number, 1)
        # One of the runtimes is another one every ten minutes, all of them every hour.
        for place, pid in enumerate(pids):
            age = number // REPORTS_AN_HOUR * len(pids) + place
            if place == 0:
                age = number // (REPORTS_AN_HOUR // 6) + 1_000
            new = 100_000 + age
            line = line.replace(b'"pid":%d,' % pid, b'"pid":%d,' % new)
            line = line.replace(b"/proc/%d/" % pid, b"/proc/%d/" % new)
        yield line


def is_broken(number: int) -> bool:
    """
    Whether that line is no report.
    """
    return number % BROKEN_EVERY == BROKEN_EVERY - 1
