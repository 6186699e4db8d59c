"""
Make one virtual environment from one file of pins, and print progress.

    python3 requirements/environment.py FOLDER PINS

The program does not know the purpose of the packages. Python 3.6 and later can read this file, so
that a Python that is too old prints a sentence and not a syntax error.
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
READY = ".ready"  # written last, so that an incomplete environment is made again
CLOSING_LINES = 20  # last lines of pip that are printed if it fails


class MachineError(Exception):
    """An environment could not be made. The message names the failure and what to do."""


def require_python() -> None:
    """
    Check that this Python can make environments.

    Raises:
        MachineError: This Python is older than 3.10, or lacks venv or ensurepip.
    """
    if sys.version_info < OLDEST:
        msg = (
            f"{sys.executable} is Python {sys.version.split()[0]}, expected 3.10 or later."
            " Set another Python with make PYTHON=/path/to/python3."
        )
        raise MachineError(msg)
    try:
        import ensurepip  # noqa: F401, PLC0415 - Debian has it in a separate package
        import venv  # noqa: F401, PLC0415 - as above
    except ImportError as error:
        msg = (
            f"{sys.executable} cannot make virtual environments, because it has no {error.name}."
            f" Install {error.name} (Debian, Ubuntu: apt install python3-venv), or set another"
            " Python with make PYTHON=/path/to/python3."
        )
        raise MachineError(msg) from None


def make(folder: Path, pins: Path) -> None:
    """
    Delete *folder*, make it again and install every pin in *pins* that applies to this machine.

    Raises:
        MachineError: This Python cannot make environments, or pip failed.
    """
    require_python()
    started_s = time.monotonic()
    shutil.rmtree(str(folder), ignore_errors=True)
    with progress(folder, f"creating with Python {sys.version.split()[0]}") as status:
        if subprocess.run([sys.executable, "-m", "venv", str(folder)], check=False).returncode != 0:
            msg = f"{sys.executable} -m venv {folder} failed. See its message above."
            raise MachineError(msg)
        pinned = re.findall(r"^[\w.-]+[\[\w, \]-]*==", pins.read_text("utf-8"), re.MULTILINE)
        print_status(folder, f"installing up to {len(pinned)} packages from {pins}")
        install(folder, pins, len(pinned), status)
    (folder / READY).touch()
    print_status(folder, f"ready after {time.monotonic() - started_s:.0f} s")


def install(folder: Path, pins: Path, expected: int, status: "list[str]") -> None:
    """
    Run pip for *expected* pins, and keep the number of collected packages in ``status[0]``.

    Raises:
        MachineError: pip failed. Its last lines are on stderr.
    """
    command = [str(folder / "bin" / "python"), "-m", "pip", "install"]
    command += ["--disable-pip-version-check", "--no-input", "--no-compile", "--progress-bar=off"]
    # The pins are complete. Resolving them again takes longer, and before pip 24 fails with extras.
    command += ["--require-hashes", "--no-deps", "--requirement", str(pins)]
    collected = 0
    last_lines: list[str] = []
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as pip:
        for line in pip.stdout or ():
            last_lines = [*last_lines[1 - CLOSING_LINES :], line]
            collected += line.startswith(("Collecting ", "Processing "))
            expected -= line.startswith("Ignoring ")  # a pin for another Python or platform
            if line.startswith("Installing collected"):
                status[0] = f"unpacking {collected} packages"
            elif collected < expected:
                status[0] = f"collected {collected} of {expected} packages"
    if pip.returncode != 0:
        sys.stderr.writelines(last_lines)
        msg = (
            f"pip could not install {pins} into {folder}. Every pin must be found with its hash."
            " See the message of pip above."
        )
        raise MachineError(msg)


@contextlib.contextmanager
def progress(folder: Path, text: str) -> "Iterator[list[str]]":
    """
    Print *text* now, and the only entry of the yielded list every few seconds.

    A step may be silent for a minute. The block sets the entry, which is *text* at first.
    """
    print_status(folder, text)
    status = [text]
    ended = threading.Event()

    def repeat() -> None:
        while not ended.wait(PROGRESS_INTERVAL_S):
            print_status(folder, status[0])

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield status
    finally:
        ended.set()
        thread.join()


def print_status(folder: Path, text: str) -> None:
    """Print a line about *folder*, which several of these programs may print at the same time."""
    sys.stdout.write(f"{folder}: {text}\n")
    sys.stdout.flush()  # stdout may be a pipe


if __name__ == "__main__":
    if len(sys.argv) != 3:
        sys.exit("environment.py needs two arguments: FOLDER PINS, a folder and a file of pins.")
    try:
        make(Path(sys.argv[1]), Path(sys.argv[2]))
    except MachineError as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit(f"{sys.argv[1]}: interrupted. The next run makes it again.")
