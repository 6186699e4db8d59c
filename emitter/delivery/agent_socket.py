"""
Hand records to the CloudWatch agent on its EMF socket: `--output agent`.

TCP, newline after each line. The agent never answers, so a record counts as
delivered when the agent's side of the connection has acknowledged every byte and
has not closed it. That is the most there is to know: what the agent holds in
memory when it ends, it loses. A connection that ends before that leaves
open what was taken: the batch is sent again, and a line may arrive twice.
"""

from __future__ import annotations

import fcntl
import socket
import struct
import termios
import time
from contextlib import suppress
from typing import TYPE_CHECKING, Final
from urllib.parse import urlsplit

from emitter.delivery.agent_lines import AGENT_LIMITS, NotAnObjectError, addressed
from emitter.delivery.destination import Delivered, Invalid, Outcome, Retry
from emitter.delivery.log_names import require_group, require_stream
from emitter.errors import SettingsError

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.spool.records import SpooledRecord

CONNECT_TIMEOUT_S: Final = 5.0
SEND_TIMEOUT_S: Final = 15.0
_LOOK_EVERY_S: Final = 0.01  # the kernel tells nobody when the last byte is acknowledged
_SAID_BYTES: Final = 4_096


class AgentSocket:
    """
    A `Destination` that is the CloudWatch agent, on this machine or near it.

    Attributes:
        limits: Lines that no version of the agent cuts; no limit on age: the
            agent stamps lines when they come.

    Raises:
        SettingsError:
            If *endpoint* is no `tcp://HOST:PORT`, or *group* or *stream* is no
            name CloudWatch Logs can have.
    """

    limits = AGENT_LIMITS

    def __init__(
        self,
        endpoint: str,
        *,
        group: str,
        stream: str,
        sleep: Callable[[float], object] = time.sleep,
    ) -> None:
        self._address = parse_endpoint(endpoint)
        self._endpoint = endpoint
        self._group = require_group(group)
        self._stream = require_stream(stream)
        self._sleep = sleep
        self._socket: socket.socket | None = None

    def rename(self, stream: str) -> None:
        """
        Address lines to another stream from the next batch on. From any thread.

        Raises:
            SettingsError: If *stream* is no name CloudWatch Logs can have.
        """
        self._stream = require_stream(stream)

    def send(self, batch: Sequence[SpooledRecord]) -> Outcome:
        """Write *batch* and wait until the other side has acknowledged it."""
        group, stream = self._group, self._stream
        try:
            lines = [addressed(record, group=group, stream=stream) for record in batch]
        except NotAnObjectError:
            return Invalid("a line for the CloudWatch agent is not a JSON object")
        try:
            connection = self._connected()
        except OSError as error:
            self.close()
            return Retry("agent_unreachable", self._nobody_there(error))
        try:
            self._put(connection, "".join(f"{line}\n" for line in lines).encode())
        except TimeoutError:
            self.close()
            sentence = f"The CloudWatch agent at {self._endpoint} is not reading"
            return Retry("agent_stuck", f"{sentence}. Restart it.")
        except OSError as error:
            self.close()
            sentence = f"The CloudWatch agent at {self._endpoint} closed the connection"
            return Retry("agent_closed", f"{sentence} ({_words(error)}).")
        return Delivered()

    def close(self) -> None:
        """Close the connection. The next send opens one again."""
        if self._socket is not None:
            with suppress(OSError):
                self._socket.shutdown(socket.SHUT_WR)
            self._socket.close()
            self._socket = None

    def _connected(self) -> socket.socket:
        """The connection there is, unless the other side has closed it; else a new one."""
        if self._socket is not None and _is_closed(self._socket):
            self.close()  # the agent was restarted meanwhile: of this batch nothing is lost
        if self._socket is None:
            self._socket = socket.create_connection(self._address, CONNECT_TIMEOUT_S)
            self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        return self._socket

    def _put(self, connection: socket.socket, data: bytes) -> None:
        """
        Write *data* and wait for its acknowledgement.

        Raises:
            OSError: If the connection ended meanwhile; TimeoutError if it took too long.
        """
        ends_s = time.monotonic() + SEND_TIMEOUT_S
        connection.settimeout(SEND_TIMEOUT_S)
        connection.sendall(data)
        while not _is_closed(connection):
            if not _unacknowledged_bytes(connection):
                return
            if time.monotonic() > ends_s:
                raise TimeoutError
            self._sleep(_LOOK_EVERY_S)
        raise ConnectionResetError

    def _nobody_there(self, error: OSError) -> str:
        return (
            f"Cannot reach the CloudWatch agent at {self._endpoint} "
            f'({_words(error)}). Start it with "emf": {{}} under logs, '
            "metrics_collected in its configuration, or use --agent-endpoint."
        )


def parse_endpoint(endpoint: str) -> tuple[str, int]:
    """
    Host and port of `tcp://HOST:PORT`; an IPv6 host stands in brackets.

    Raises:
        SettingsError: If it is anything else.
    """
    try:
        parts = urlsplit(endpoint)
        host, port = parts.hostname, parts.port
        (host or "").encode("idna")  # as the resolver will
    except ValueError:  # a port that is no number, brackets that do not match, an empty label
        parts, host, port = urlsplit(""), None, None
    beyond = parts.path.strip("/") or parts.query or parts.fragment or parts.username
    if parts.scheme != "tcp" or not host or not port or beyond:
        # What stands before an @ may be a password, and this goes to a log.
        found = "has an @ in it" if "@" in endpoint else f"is {endpoint[:80]!r}"
        msg = (
            f"Invalid --agent-endpoint: {found}. Use tcp://HOST:PORT, such as "
            "tcp://127.0.0.1:25888 or tcp://[::1]:25888."
        )
        raise SettingsError(msg)
    return host, port


def _is_closed(connection: socket.socket) -> bool:
    """Whether the other side has ended the connection. What it may have said is passed over."""
    connection.settimeout(0)
    try:
        while connection.recv(_SAID_BYTES):
            pass
    except (BlockingIOError, InterruptedError):
        return False
    except OSError:
        return True
    return True


def _unacknowledged_bytes(connection: socket.socket) -> int:
    """Bytes in the send queue that the other side's kernel has not acknowledged."""
    answer = fcntl.ioctl(connection, termios.TIOCOUTQ, struct.pack("i", 0))
    (queued,) = struct.unpack("i", answer)
    return int(queued)


def _words(error: OSError) -> str:
    return error.strerror or type(error).__name__
