"""
`neuron-emf` as a process of its own, as a person or systemd starts it.

Nothing of this machine gets in: no configuration file of the system, no
credentials, no instance metadata, no kernel messages, no processes, no home folder.
"""

from __future__ import annotations

import fcntl
import logging
import os
import struct
import subprocess
import sys
import termios
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

COMMAND = (sys.executable, "-m", "neuron_emf")
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "testing", "AWS_SECRET_ACCESS_KEY": "testing"}


def environment(home: Path, **variables: str) -> dict[str, str]:
    """What a process sees: a home of its own and the variables given."""
    return {
        "HOME": str(home),
        "PATH": os.defpath,
        "PYTHONPATH": ":".join(sys.path),
        "AWS_EC2_METADATA_DISABLED": "true",
        "NEURON_EMF_KERNEL_MESSAGES": "none",
        "NEURON_EMF_ATTRIBUTION": "none",
        **variables,
    }


@contextmanager
def logging_restored() -> Iterator[None]:
    """Put logging back as it was: a command that runs inside a test sets it up for a process."""
    root, ours = logging.getLogger(), logging.getLogger("emitter")
    handlers, levels = root.handlers[:], (root.level, ours.level)
    try:
        yield
    finally:
        root.handlers[:] = handlers
        root.setLevel(levels[0])
        ours.setLevel(levels[1])


def neuron_emf(
    *arguments: object, home: Path, variables: Mapping[str, str] | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run to the end; what it printed and its exit code."""
    if "input" not in options and "stdin" not in options:
        options["stdin"] = subprocess.DEVNULL
    if "stdout" not in options:
        options["stdout"] = subprocess.PIPE
    return subprocess.run(
        [*COMMAND, *map(str, arguments)],
        env=environment(home, **(variables or {})),
        cwd=options.pop("cwd", home),
        stderr=subprocess.PIPE,
        text=True,
        timeout=9,
        check=False,
        **options,
    )


def sentence(ended: subprocess.CompletedProcess[str], code: int) -> str:
    """The one sentence that a failed command ends with; nothing else was printed."""
    lines = ended.stderr.splitlines()
    assert code == ended.returncode, ended.stderr
    assert 1 == len(lines), ended.stderr
    assert not ended.stdout
    assert lines[0].startswith("neuron-emf: ")
    return lines[0].removeprefix("neuron-emf: ")


def wait_until(is_so: Callable[[], object], within_s: float = 8.0) -> None:
    """Look again every few milliseconds; fail when it does not come true."""
    deadline = time.monotonic() + within_s
    while not is_so():
        assert time.monotonic() < deadline, "what was waited for did not happen"
        time.sleep(0.01)


def bytes_in(pipe: Any) -> int:
    """What was written to a pipe and not yet read."""
    answer = fcntl.ioctl(pipe.fileno(), termios.FIONREAD, struct.pack("i", 0))
    return int(struct.unpack("i", answer)[0])
