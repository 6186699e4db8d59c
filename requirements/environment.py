"""
Make one virtual environment from one file of pins, and say how far it is.

    python3 requirements/environment.py FOLDER PINS

Knows nothing of what the packages are for. Any Python 3 since 3.6 can read it:
one that is too old must get a sentence, not a syntax error.
"""

import contextlib
import re
import shutil
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

OLDEST = (3, 10)
PROGRESS_INTERVAL_S = 5.0
READY = ".ready"  # written last: a half-made environment is made again
CLOSING_LINES = 20  # of pip, shown when it fails


class MachineError(Exception):
    """A program that the machine lacks. The message is one sentence about what to install."""


def require_python() -> None:
    """
    Refuse a Python that is too old or cannot make environments.

    Raises:
        MachineError: With what to install or to name instead.
    """
    if sys.version_info < OLDEST:
        msg = (
            f"{sys.executable} is Python {sys.version.split()[0]}: expected 3.10 or later;"
            " name one with make PYTHON=/path/to/python3"
        )
        raise MachineError(msg)
    try:
        import ensurepip  # noqa: F401, PLC0415 - Debian ships it in a package of its own
        import venv  # noqa: F401, PLC0415 - as above
    except ImportError as error:
        msg = (
            f"{sys.executable} cannot make virtual environments: it has no {error.name};"
            " install it (Debian, Ubuntu: apt install python3-venv)"
            " or name another Python with make PYTHON=/path/to/python3"
        )
        raise MachineError(msg) from None


def make(folder: Path, pins: Path) -> None:
    """
    Make *folder* again from nothing and install every pin that applies to this machine.

    Raises:
        MachineError: If this Python cannot, or pip did not.
    """
    require_python()
    started_s = time.monotonic()
    shutil.rmtree(str(folder), ignore_errors=True)
    with progress(folder, f"is made with Python {sys.version.split()[0]}") as doing:
        if subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False).returncode != 0:
            msg = f"{sys.executable} -m venv {folder} failed: see its message above"
            raise MachineError(msg)
        pinned = re.findall(r"^[\w.-]+[\[\w, \]-]*==", pins.read_text("utf-8"), re.MULTILINE)
        say(folder, f"installs up to {len(pinned)} packages from {pins}")
        install(folder, pins, len(pinned), doing)
    (folder / READY).touch()
    say(folder, f"ready after {time.monotonic() - started_s:.0f} s")


def install(folder: Path, pins: Path, expected: int, doing: "list[str]") -> None:
    """
    Run pip, and keep in *doing* how many packages it has.

    Raises:
        MachineError: If pip failed; its last lines are on stderr then.
    """
    command = [str(folder / "bin" / "python"), "-m", "pip", "install"]
    command += ["--disable-pip-version-check", "--no-input", "--no-compile", "--progress-bar=off"]
    # The pins are complete. Resolving again takes longer, and pips before 24 stumble over extras.
    command += ["--require-hashes", "--no-deps", "--requirement", str(pins)]
    found = 0
    seen: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        for line in pip.stdout or ():
            seen = [*seen[1 - CLOSING_LINES :], line]
            found += line.startswith(("Collecting ", "Processing "))
            expected -= line.startswith("Ignoring ")  # a pin for another Python or platform
            if line.startswith("Installing collected"):
                doing[0] = f"unpacks its {found} packages"
            elif found < expected:
                doing[0] = f"has {found} of {expected} packages"
    if pip.returncode != 0:
        sys.stderr.writelines(seen)
        msg = (
            f"pip could not install {pins} into {folder}:"
            " expected every pin to be found with its hash; see its message above"
        )
        raise MachineError(msg)


@contextlib.contextmanager
def progress(folder: Path, text: str) -> "Iterator[list[str]]":
    """Say *text* now, and what is in the list every few seconds: a step may say nothing."""
    say(folder, text)
    doing = [text]
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(PROGRESS_INTERVAL_S):
            say(folder, doing[0])

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield doing
    finally:
        ended.set()
        thread.join()


def say(folder: Path, text: str) -> None:
    """One line of progress, at once also into a pipe: three of us may run side by side."""
    sys.stdout.write(f"{folder}: {text}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("expected a folder and a file of pins: environment.py FOLDER PINS")
    try:
        make(Path(sys.argv[1]), Path(sys.argv[2]))
    except MachineError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(f"{sys.argv[1]}: stopped; it is made again next time")
