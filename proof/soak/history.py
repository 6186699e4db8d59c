"""
Reports of one instance on which things keep changing, for as long as one likes.

The simulated neuron-monitor makes a minute of them; here they are repeated
under other process ids, with runtimes that come and go, pods with them, errors
whose text has a number in it, counters of corrected errors that rise, and now
and then a line that is none. What a reader remembers for each of these, and
never forgets, it has thousands of by the end.
"""

from __future__ import annotations

import json
import subprocess
import sys
from typing import TYPE_CHECKING

from proof.emitter_process import environment

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

PERIOD_S = 5
REPORTS_A_MINUTE = 12
REPORTS_AN_HOUR = 720
REPORTS_IN_TEN_MINUTES = 120
BROKEN_EVERY = 701
WRONG_TYPE_EVERY = 499
NOBODY_EVERY = 97
IN_ERROR, IN_ERROR_OF = 40, 1_300  # the last so many of so many
SIMULATED = 13  # the first covers milliseconds
NO_ERROR = b'"error":""}'


def simulated(folder: Path, *arguments: str) -> list[bytes]:
    """Reports of the simulated neuron-monitor, with their line ends."""
    ended = subprocess.run(
        [sys.executable, "-m", "local.monitor", "--no-wait", *arguments],
        stdout=subprocess.PIPE,
        env=environment(folder),
        check=True,
    )
    return ended.stdout.splitlines(keepends=True)


def history(folder: Path, reports: int) -> Iterator[bytes]:
    """That many lines, a report each but for the broken ones."""
    arguments = ("--instance-type", "trn1.32xlarge", "--scenario", "multi-runtime")
    templates = simulated(folder, *arguments, "--reports", str(SIMULATED))[1:]
    pids = [one["pid"] for one in json.loads(templates[0])["neuron_runtime_data"]]
    lines: list[bytes] = []
    for number in range(reports):
        if number % REPORTS_IN_TEN_MINUTES == 0:
            lines = [_of_its_time(line, number, pids) for line in templates]
        line = lines[number % len(lines)]
        if is_broken(number):
            line = line[: len(line) // 3] + b"\n"
        elif number % NOBODY_EVERY == NOBODY_EVERY - 1:
            document = json.loads(line)
            document["neuron_runtime_data"] = []
            line = json.dumps(document, separators=(",", ":")).encode() + b"\n"
        elif number % WRONG_TYPE_EVERY == WRONG_TYPE_EVERY - 1:
            line = line.replace(b'"memory_info":{', b'"memory_info":%d,"other":{' % number, 1)
        elif number % IN_ERROR_OF >= IN_ERROR_OF - IN_ERROR:
            line = _in_error(line, number)
        yield line


def is_broken(number: int) -> bool:
    """Whether that line is no report."""
    return number % BROKEN_EVERY == BROKEN_EVERY - 1


def _of_its_time(line: bytes, number: int, pids: list[int]) -> bytes:
    """
    With the runtimes, the pod and the corrected errors of ten minutes.

    One of the runtimes is another one every ten minutes, all of them every hour.
    """
    hour = number // REPORTS_AN_HOUR
    for place, pid in enumerate(pids):
        age = hour * len(pids) + place
        if place == 0:
            age = number // REPORTS_IN_TEN_MINUTES + 1_000
        new = 100_000 + age
        line = line.replace(b'"pid":%d,' % pid, b'"pid":%d,' % new)
        line = line.replace(b"/proc/%d/" % pid, b"/proc/%d/" % new)
    line = line.replace(b'"mem_ecc_corrected":0', b'"mem_ecc_corrected":%d' % hour, 1)
    pod = b'{"pod_name":"job-%d","namespace":"team-%d"}' % (hour, hour % 7)
    owners = b'"neuron_k8s_info":{"period":15,"neurondevices_k8s_info":{"0":%s},"error":""}' % pod
    return b"{" + owners + b"," + line[1:]


def _in_error(line: bytes, number: int) -> bytes:
    """The same, with an error of a group that has a number in it."""
    cut = line.index(NO_ERROR, line.index(b'"neuron_hw_counters"'))
    problem = b'"error":"/sys/devices/neuron%d timed out"}' % number
    return line[:cut] + problem + line[cut + len(NO_ERROR) :]
