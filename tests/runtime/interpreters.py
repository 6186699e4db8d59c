"""Where this machine has the Pythons that Lambda offers."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def interpreter_of(version):
    """
    A Python of *version*, such as 3.13: from PATH, or installed beside the one that runs.

    Version managers put each Python into a folder of its own, all of them into one; a command of
    theirs on PATH may stand for a version that it refuses to run. None when there is none.
    """
    for candidate in _candidates(version):
        found = _asked(candidate) if candidate.is_file() else None
        if found is not None and version == found[0]:
            return Path(found[1])
    return None


def _candidates(version):
    name = f"python{version}"
    yield from (Path(folder) / name for folder in os.environ["PATH"].split(os.pathsep))
    prefix = Path(sys.base_prefix)
    yield prefix / "bin" / name
    yield from sorted(prefix.parent.glob(f"*{version}*/bin/{name}"), reverse=True)


def _asked(candidate):
    """
    Its version, and where it really is: a command of a version manager takes 0.1 s to find out.
    """
    code = "import sys; print('%d.%d' % sys.version_info[:2], sys.executable)"
    run = subprocess.run(
        [candidate, "-E", "-S", "-c", code],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        check=False,
    )
    return run.stdout.strip().split(" ", 1) if run.returncode == 0 else None
