"""
One HTTP exchange with a service of this host, with limits on time and bytes.

It follows no redirect and uses no proxy: the proxy in `http_proxy` must never see the secrets of a
link-local address, and cannot reach one. A socket's timeout limits each read, not the whole
exchange; a peer that sends one byte a second would never end. Every read therefore gets the rest of
one deadline.
"""

from __future__ import annotations

import http.client
import json
import socket
import time
from contextlib import suppress
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Mapping

ECS_AGENT_URL: Final = "http://127.0.0.1:51678"
MAX_BODY_BYTES: Final = 64 << 10
CONNECT_S: Final = 1.0
EXCHANGE_S: Final = 1.0  # from the request to the last byte of the response


class LocalHttpError(Exception):
    """There is no response. The message has the reason in a few words."""


@dataclass(frozen=True, slots=True)
class Reply:
    """
    A response with any status.

    Attributes:
        status: HTTP status.

        body: The body, at most `MAX_BODY_BYTES` unless another limit was set.
    """

    status: int
    body: bytes

    def text(self) -> str:
        """
        The body without surrounding white space.

        Raises:
            LocalHttpError: If it is not UTF-8.
        """
        try:
            return self.body.decode().strip()
        except UnicodeDecodeError as error:
            msg = "the response is not UTF-8 text"
            raise LocalHttpError(msg) from error

    def json_object(self) -> dict[str, object]:
        """
        Return the body as a JSON object.

        Raises:
            LocalHttpError: If it is not a JSON object.
        """
        try:
            document = json.loads(self.body)
        except (ValueError, RecursionError) as error:
            msg = "the response is not JSON"
            raise LocalHttpError(msg) from error
        if not isinstance(document, dict):
            msg = "the response is not a JSON object"
            raise LocalHttpError(msg)
        return document


def exchange(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    ends_at_s: float = inf,
    max_bytes: int = MAX_BODY_BYTES,
) -> Reply:
    """
    Send one request to *url* and return the whole response.

    Args:
        url: An http address.

        method: HTTP method.

        headers: The headers, sent unchanged.

        ends_at_s: A deadline on `time.monotonic()`, if it is earlier than the limits above.

        max_bytes: The most bytes that a response may have.

    Raises:
        LocalHttpError: If there is no complete answer in time.
    """
    host, port, target = _parts(url)
    connection = _Connection(host, port, ends_at_s)
    try:
        connection.request(method, target, headers=dict(headers or {}))
        response = connection.getresponse()
        body = response.read(max_bytes + 1)
    except (OSError, http.client.HTTPException, ValueError) as error:
        raise LocalHttpError(_why(error, host, port)) from error
    finally:
        connection.close()
    if len(body) > max_bytes:
        msg = f"the response is larger than {max_bytes >> 10} KiB"
        raise LocalHttpError(msg)
    return Reply(response.status, body)


class TimedSocket(socket.socket):
    """
    A reader of *plain*, a connected socket: all its reads together end within *within_s*.

    The remaining time is the timeout of a write.
    """

    def __init__(self, plain: socket.socket, within_s: float) -> None:
        super().__init__(plain.family, plain.type, plain.proto, fileno=plain.detach())
        self.settimeout(within_s)
        self._ends_at_s = time.monotonic() + within_s

    def recv_into(self, *args: Any, **options: Any) -> int:  # noqa: ANN401 - as socket has it
        left_s = self._ends_at_s - time.monotonic()
        if left_s <= 0:
            raise TimeoutError
        self.settimeout(left_s)
        return super().recv_into(*args, **options)


class _Connection(http.client.HTTPConnection):
    """A direct connection: `http.client` itself uses neither proxies nor redirects."""

    def __init__(self, host: str, port: int, ends_at_s: float) -> None:
        super().__init__(host, port)
        self._ends_at_s = ends_at_s

    def connect(self) -> None:
        """Open the socket, within `CONNECT_S` for each address of the host."""
        plain = socket.create_connection((self.host, self.port), self._within_s(CONNECT_S))
        self.sock = plain  # from here on, close() closes it in every case
        self.sock = TimedSocket(plain, self._within_s(EXCHANGE_S))

    def _within_s(self, bound_s: float) -> float:
        left_s = min(bound_s, self._ends_at_s - time.monotonic())
        if left_s <= 0:
            raise TimeoutError
        return left_s


def _parts(url: str) -> tuple[str, int, str]:
    with suppress(ValueError):
        parts = urlsplit(url)
        if parts.scheme == "http" and parts.hostname:
            target = f"{parts.path or '/'}?{parts.query}" if parts.query else parts.path or "/"
            port = http.client.HTTP_PORT if parts.port is None else parts.port
            return parts.hostname, port, target
    msg = f"{url[:80]!r} is not an http URL"
    raise LocalHttpError(msg)


def _why(error: Exception, host: str, port: int) -> str:
    where = f"[{host}]:{port}" if ":" in host else f"{host}:{port}"
    if isinstance(error, TimeoutError):
        return f"no complete response from {where} in time"
    if isinstance(error, ConnectionRefusedError):
        return f"nothing is listening at {where}"
    if isinstance(error, OSError) and not isinstance(error, http.client.HTTPException):
        return f"cannot reach {where}: {error.strerror or type(error).__name__}"
    return f"the response from {where} is not HTTP"
