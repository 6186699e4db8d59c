"""
Child processes that cannot outlive us.

Each child leads its own process group, so that everything it started can be stopped with it, by the
group's ID. If util-linux has `setpriv`, a child also dies when we are killed without a chance to
stop it: `setpriv` becomes the command, and its request to the kernel (`PR_SET_PDEATHSIG`) survives
exec.

The listening addresses of a process are read from /proc, as in proc(5); without Linux none are
found.
"""

from __future__ import annotations

import contextlib
import ipaddress
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

_PROC: Final = Path("/proc")
_TCP_LISTEN: Final = "0A"  # TCP_LISTEN in include/net/tcp_states.h
_SETPRIV: Final = shutil.which("setpriv")
_PROCESS_POLL_S: Final = 0.05


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


def require_installed(what: str, program: Path) -> None:
    """
    Raise an error unless *program*, which people call *what*, exists.

    Raises:
        EmbeddedAwsError: If it is missing.
    """
    if not program.exists():
        msg = f"The {what} is not installed: {program} is missing. Run `make venvs`."
        raise EmbeddedAwsError(msg)


class ChildProcess:
    """
    One running command whose output goes to a file.

    Attributes:
        name: Its name in messages.

        output: The file for its stdout and stderr.
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
        tether = [_SETPRIV, "--pdeathsig", "TERM"] if _SETPRIV else []
        with output.open("ab") as sink:
            self._process = subprocess.Popen(
                [*tether, *command],
                stdin=subprocess.DEVNULL,
                stdout=sink,
                stderr=sink,
                cwd=folder,
                env=dict(environment),
                start_new_session=True,
            )

    @property
    def pid(self) -> int:
        """The process ID, which is also the ID of its process group."""
        return self._process.pid

    def exit_code(self) -> int | None:
        """The exit code; None while it runs, negative if a signal ended it."""
        return self._process.poll()

    def ask_to_stop(self) -> None:
        """Send SIGTERM to the process itself, which stops its own children."""
        if self.exit_code() is None:
            self._process.terminate()

    def wait(self, patience_s: float) -> int | None:
        """Wait at most *patience_s* for the end. Return None if it still runs."""
        with contextlib.suppress(subprocess.TimeoutExpired):
            return self._process.wait(max(patience_s, 0.0))
        return None

    def stop(self, patience_s: float = 5.0) -> int:
        """
        Stop it and the rest of its process group. Return its exit code.

        This takes at most *patience_s*, and about a second for a process that ignores the signal.
        """
        if self._stopped:
            return self._process.wait()  # its ID may belong to another process by now
        self.ask_to_stop()
        if self.wait(patience_s) is None:
            self._signal_group(signal.SIGKILL)
        code = self._process.wait()
        self._signal_group(signal.SIGTERM)
        deadline = time.monotonic() + 1.0
        while group_members(self.pid) and time.monotonic() < deadline:
            time.sleep(_PROCESS_POLL_S)
        self._signal_group(signal.SIGKILL)
        self._stopped = True
        return code

    def tail(self) -> str:
        """Return the last 20 lines of its output."""
        text = self.output.read_text(encoding="utf-8", errors="replace")
        return "\n".join(text.splitlines()[-20:])

    def _signal_group(self, number: signal.Signals) -> None:
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self.pid, number)


def group_members(group_id: int) -> list[int]:
    """Return the running processes of one process group; empty if /proc does not exist."""
    members = []
    for entry in _PROC.glob("[0-9]*"):
        with contextlib.suppress(OSError):  # it ended meanwhile
            stat = (entry / "stat").read_text(encoding="utf-8", errors="replace")
            # The command is in parentheses and may contain anything, including parentheses.
            state, _, group, *_ = stat.rpartition(")")[2].split()
            if int(group) == group_id and state not in "ZX":
                members.append(int(entry.name))
    return members


def listening(pids: Iterable[int]) -> list[tuple[str, int]]:
    """
    Return addresses and ports on which any of *pids* accepts TCP connections.

    The result is empty if the kernel cannot be asked.
    """
    inodes = {inode for pid in pids for inode in _socket_inodes(pid)}
    addresses = []
    for table in ("tcp", "tcp6"):
        with contextlib.suppress(OSError):  # a kernel without IPv6, or not Linux
            for row in (_PROC / "net" / table).read_text(encoding="ascii").splitlines()[1:]:
                fields = row.split()
                if fields[3] == _TCP_LISTEN and fields[9] in inodes:
                    addresses.append(_address(fields[1]))
    return sorted(addresses)


def is_loopback(address: str) -> bool:
    """Return True if only this machine can reach *address*; a host name is not an address."""
    try:
        found = ipaddress.ip_address(address)
    except ValueError:
        return False
    mapped = found.ipv4_mapped if isinstance(found, ipaddress.IPv6Address) else None
    return (mapped or found).is_loopback


def _socket_inodes(pid: int) -> Iterator[str]:
    with contextlib.suppress(OSError):  # it ended meanwhile
        for descriptor in (_PROC / str(pid) / "fd").iterdir():
            with contextlib.suppress(OSError):
                target = str(descriptor.readlink())
                if target.startswith("socket:["):
                    yield target[len("socket:[") : -1]


def _address(field: str) -> tuple[str, int]:
    """Return `0100007F:3971` as ("127.0.0.1", 14705): words in host order, port in hexadecimal."""
    words, port = field.split(":")
    packed = b"".join(
        int(words[start : start + 8], 16).to_bytes(4, sys.byteorder)
        for start in range(0, len(words), 8)
    )
    return str(ipaddress.ip_address(packed)), int(port, 16)
