"""
Child processes that cannot outlive us.

Each child leads a process group of its own, so that everything it started can
be stopped with it, and by its own id. Where the kernel offers it (Linux), a
child also dies when we are killed without a chance to stop it.
"""

from __future__ import annotations

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from local.embedded_aws import sockets, tether

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

_TETHER: Final = str(Path(tether.__file__).resolve())
_POLL_S: Final = 0.05


class EmbeddedAwsError(RuntimeError):
    """
    The embedded AWS could not do what was asked, and the person at the terminal must act.

    The emulator or the SAM CLI is not installed, did not start or refused the template.

    Attributes:
        output: The last lines that the failing command printed, or an empty text.
    """

    def __init__(self, message: str, output: str = "") -> None:
        super().__init__(message)
        self.output = output


class ChildProcess:
    """
    One running command, its output in a file.

    Attributes:
        name: What people call it, for messages.

        output: The file that takes its stdout and stderr.
    """

    def __init__(
        self,
        name: str,
        command: Sequence[str],
        *,
        output: Path,
        environment: Mapping[str, str],
        folder: Path,
    ) -> None:
        """
        Start *command* in *folder*; it gets SIGTERM when we die without stopping it.

        Call this from the main thread: the kernel means the thread, not the process.
        """
        self.name = name
        self.output = output
        self._stopped = False
        tethered = [sys.executable, "-I", "-S", _TETHER, str(os.getpid())]
        with output.open("ab") as sink:
            self._process = subprocess.Popen(
                [*tethered, *command],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """Process id, which is also the id of its process group."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """None while it runs; negative when a signal ended it."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the process itself, which stops its own children in order."""
        if self.exit_code() is None:
            self._process.terminate()

    def wait(self, patience_s: float) -> int | None:
        """Wait at most *patience_s* for the end; None when it still runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(max(patience_s, 0.0))
        return None

    def stop(self, patience_s: float = 5.0) -> int:
        """
        Stop it and whatever is left of its process group; returns its exit code.

        Takes at most *patience_s* and about a second for what does not listen.
        """
        if self._stopped:
            return self._process.wait()  # its id may be another's by now
        self.ask_to_stop()
        if self.wait(patience_s) is None:
            self._signal_group(signal.SIGKILL)
        code = self._process.wait()
        self._signal_group(signal.SIGTERM)
        deadline = time.monotonic() + 1.0
        while sockets.group_members(self.pid) and time.monotonic() < deadline:
            time.sleep(_POLL_S)
        self._signal_group(signal.SIGKILL)
        self._stopped = True
        return code

    def tail(self, lines: int = 20) -> str:
        """The last *lines* of what it said."""
        with self.output.open("rb") as said:
            said.seek(0, os.SEEK_END)
            said.seek(max(0, said.tell() - 64 * 1024))
            text = said.read().decode("utf-8", "replace")
        return "\n".join(text.splitlines()[-lines:])

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)
