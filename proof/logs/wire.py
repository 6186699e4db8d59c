"""
The local CloudWatch Logs on the network: requests, signatures, connections, and how they break.

JSON 1.1 is the protocol of CloudWatch Logs: the operation is in a header, and the body of an error
has its name in `__type`. Another service on the same port has its own protocol class with the same
three methods. botocore checks signatures; the answer to an invalid one is that of the JSON
services: HTTP 400 and the name of the exception.
"""

from __future__ import annotations

import contextlib
import json
import re
import select
import socket
import struct
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone
from email.utils import formatdate
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import TYPE_CHECKING, Any

from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials

from proof.logs.rules import ServiceError
from proof.logs.service_faults import (
    ANSWER_LOST,
    CUT,
    EXPIRED_KEY,
    GARBLED,
    MISMATCH,
    MISSING_TOKEN,
    NEVER_ANSWERED,
    RESET,
    UNHEARD,
    UNKNOWN_KEY,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from proof.logs.rules import Document

MOMENT = "%Y%m%dT%H%M%SZ"
TOLERANCE = timedelta(minutes=5)  # between the signer's clock and the service's
_AUTHORIZATION = re.compile(
    r"AWS4-HMAC-SHA256 Credential=(?P<key>[^/]+)/\d{8}/(?P<region>[^/]+)/[^/]+/aws4_request,"
    r" SignedHeaders=(?P<headers>[^,]+), Signature=(?P<signature>[0-9a-f]{64})"
)


@dataclass(frozen=True)
class JsonWire:
    """
    The protocol of CloudWatch Logs, or of a service that differs in these texts.

    Attributes:
        signing_name: The service's name in a signature.
    """

    signing_name: str = "logs"
    content_type: str = "application/x-amz-json-1.1"
    target_prefix: str = "Logs_20140328."

    def is_of(self, headers: Mapping[str, str]) -> bool:
        """Return True if a request has this form, complete and not compressed."""
        is_ours = headers.get("x-amz-target", "").startswith(self.target_prefix)
        is_json = headers.get("content-type") == self.content_type
        return is_ours and is_json and "content-encoding" not in headers

    def request_of(self, headers: Mapping[str, str], body: bytes) -> tuple[str, Document]:
        """Return the operation of a request, and its members."""
        return headers["x-amz-target"].removeprefix(self.target_prefix), json.loads(body)

    def written(self, answer: Document | ServiceError) -> tuple[int, str, bytes]:
        """Return status, content type and body of an answer."""
        if isinstance(answer, ServiceError):
            error = {"__type": answer.code, "message": answer.words}
            return answer.status, self.content_type, json.dumps(error).encode()
        return 200, self.content_type, json.dumps(answer).encode()


def region_signed_for(
    headers: Mapping[str, str],
    body: bytes,
    keys: Mapping[str, str | None],
    now_s: float,
    service: str,
) -> str:
    """
    Check the signature of a POST to `/`. Return its Region.

    *headers* have names in small letters; *keys* are secrets by access key, None for an expired
    key. *now_s* is the service's time, s since the epoch. *service* is its name in a signature.

    Raises:
        ServiceError: If the signature is not by one of *keys*, is too old, or does not match the
            request.
    """
    found = _AUTHORIZATION.fullmatch(headers.get("authorization", ""))
    if found is None:
        raise ServiceError(*MISSING_TOKEN)
    moment = headers["x-amz-date"]
    now = datetime.fromtimestamp(now_s, timezone.utc)
    signed_at = datetime.strptime(moment, MOMENT).replace(tzinfo=timezone.utc)
    if abs(signed_at - now) > TOLERANCE:
        words = f"Signature expired: {moment} is more than 5 min. from {now:{MOMENT}}"
        raise ServiceError(MISMATCH[0], words)
    if found["key"] not in keys:
        raise ServiceError(*UNKNOWN_KEY)
    secret = keys[found["key"]]
    if secret is None:
        raise ServiceError(*EXPIRED_KEY)
    signed = {name: headers[name] for name in found["headers"].split(";")}
    request = AWSRequest("POST", f"http://{headers['host']}/", signed, body)
    request.context["timestamp"] = moment
    auth = SigV4Auth(Credentials(found["key"], secret), service, found["region"])
    text = auth.string_to_sign(request, auth.canonical_request(request))
    if auth.signature(text, request) != found["signature"]:
        raise ServiceError(*MISMATCH)
    return found["region"]


_RESET_AT_CLOSE = struct.pack("ii", 1, 0)  # close without lingering


@dataclass(frozen=True)
class Response:
    """
    The answer that was sent, or will be sent.

    Attributes:
        fault: Its fault on the way; None for none.

        at_s: When, by the service's clock, seconds since the epoch.
    """

    status: int
    content_type: str
    body: bytes
    at_s: float
    number: int
    fault: str | None = None


class Port(ThreadingHTTPServer):
    """A port that is reserved from the start and listens on command."""

    daemon_threads = True
    block_on_close = False
    allow_reuse_address = True
    request_queue_size = 64

    def __init__(self, address: Any, reply: Callable[[Mapping[str, str], bytes], Response]) -> None:
        super().__init__(address, Connection, bind_and_activate=False)
        self.reply = reply
        self.reset: set[socket.socket] = set()
        self._connections: set[socket.socket] = set()
        self.server_bind()

    def process_request(self, request: Any, client_address: Any) -> None:
        self._connections.add(request)
        super().process_request(request, client_address)

    def shutdown_request(self, request: Any) -> None:
        self._connections.discard(request)
        if request in self.reset:
            self.reset.discard(request)
            self.close_request(request)  # an orderly end would itself be an answer
        else:
            super().shutdown_request(request)

    def hang_up(self) -> None:
        """Break every connection."""
        for connection in list(self._connections):
            self.reset_at_close(connection)
            with contextlib.suppress(OSError):  # already gone
                connection.shutdown(socket.SHUT_RDWR)  # wakes a reader

    def reset_at_close(self, connection: socket.socket) -> None:
        """Make a connection end with a reset, as a machine between the two would."""
        self.reset.add(connection)
        with contextlib.suppress(OSError):  # already gone
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, _RESET_AT_CLOSE)

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Ignore errors: clients that are killed during a call are the purpose of this service."""
        if not isinstance(sys.exc_info()[1], OSError):
            super().handle_error(request, client_address)


class Connection(BaseHTTPRequestHandler):
    """One connection of a client."""

    protocol_version = "HTTP/1.1"
    wbufsize = -1  # headers and body in one packet: a second one would wait 40 ms for an ACK
    server: Port

    def do_POST(self) -> None:
        length = int(self.headers["Content-Length"])
        body = self.rfile.read(length)
        if len(body) < length:  # the client was killed while it sent
            self.close_connection = True
            return
        headers = {name.lower(): value for name, value in self.headers.items()}
        response = self.server.reply(headers, body)
        if response.fault in {RESET, ANSWER_LOST}:
            self.server.reset_at_close(self.connection)
            self.close_connection = True
        elif response.fault in {UNHEARD, NEVER_ANSWERED}:
            self._wait_for_the_end()
            self.close_connection = True
        elif response.fault == GARBLED:
            self._answer(response, _half(response.body), len(_half(response.body)))
        elif response.fault == CUT:
            self._answer(response, _half(response.body), len(response.body))
            self.close_connection = True
        else:
            self._answer(response, response.body, len(response.body))

    def _wait_for_the_end(self) -> None:
        watch = select.poll()
        watch.register(self.connection, select.POLLIN | select.POLLRDHUP)
        watch.poll()

    def _answer(self, response: Response, body: bytes, promised_bytes: int) -> None:
        self.send_response_only(response.status)
        self.send_header("x-amzn-RequestId", f"00000000-0000-4000-8000-{response.number:012d}")
        self.send_header("Content-Type", response.content_type)
        self.send_header("Content-Length", str(promised_bytes))
        self.send_header("Date", formatdate(response.at_s, usegmt=True))
        self.end_headers()
        self.wfile.write(body)
        self.wfile.flush()

    def log_message(self, *_arguments: object) -> None:
        """Log nothing."""


def _half(body: bytes) -> bytes:
    return body[: len(body) // 2]
