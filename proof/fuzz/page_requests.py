"""What a browser, or anybody else on the machine, asks the page."""

from __future__ import annotations

import io
import re
from types import SimpleNamespace
from typing import Any, Final

from neuron_emf.page.server import HOST, POLICY, TOKEN_HEADER, _Handler
from neuron_emf.page.view import UnknownClusterError
from proof.fuzz.target import Target, reworded

PORT: Final = 8600
TOKEN: Final = "f" * 43
SECRET: Final = "told to whoever has the token"


class _View:
    """A page of one cluster."""

    def __init__(self) -> None:
        self.reads = {"/overview.json": self.overview}
        self.runs = {"/query.json": self.overview}

    def overview(self, query: dict[str, str]) -> dict[str, str]:
        cluster = query.get("cluster", "")
        if cluster not in {"", "training"}:
            msg = "No cluster of that name."
            raise UnknownClusterError(msg)
        return {"cluster": cluster, "secret": SECRET}


class _Browser:
    """A connection on which a browser, or somebody else, has said all."""

    def __init__(self, content: bytes) -> None:
        self._content = content
        self.answered = b""

    def makefile(self, *_: Any) -> io.BytesIO:
        return io.BytesIO(self._content)

    def settimeout(self, _seconds: float) -> None:
        pass

    def sendall(self, content: bytes) -> None:
        self.answered += bytes(content)


def answered(content: bytes) -> bytes:
    """What the page's server answers the bytes of a connection."""
    browser = _Browser(content)
    server: Any = SimpleNamespace(
        server_address=(HOST, PORT), view=_View(), token=TOKEN, public={"/open.json": dict}
    )
    _Handler(browser, (HOST, 1), server)  # type: ignore[arg-type]
    return browser.answered


def answers_a_browser(content: bytes) -> None:
    """
    Whatever is told is told to who names this machine as its host, and with the policy.

    Data are told to whoever sends the token, once for each time that it is sent.
    """
    told = answered(content)
    answers = told.count(b"HTTP/1.1 200 OK\r\n")
    assert answers <= told.count(b"Content-Security-Policy: %b\r\n" % POLICY.encode())
    named = re.findall(rb"(?i)host[ \t]*:[ \t]*(?:127\.0\.0\.1|localhost):8600", content)
    assert answers <= len(named)
    assert told.count(SECRET.encode()) <= content.count(TOKEN.encode())
    assert b"The page has a fault" not in told


def _requests() -> list[bytes]:
    head = b"Host: 127.0.0.1:8600\r\nAccept: */*\r\n"
    token = b"%b: %b\r\n" % (TOKEN_HEADER.encode(), TOKEN.encode())
    paths = (b"/", b"/overview.json?cluster=training", b"/open.json", b"/static/x")
    return [
        *(b"GET %b HTTP/1.1\r\n%b%b\r\n" % (path, head, token) for path in paths),
        b"GET /overview.json HTTP/1.1\r\n%b\r\n" % head,
        b"HEAD http://127.0.0.1:8600/overview.json?cluster=%%41 HTTP/1.1\r\n%b%b\r\n"
        % (head, token),
        b"GET http://[ HTTP/1.1\r\n%b\r\n" % head,
        b"POST /query.json HTTP/1.1\r\nContent-Length: 1\r\n%b%b\r\nx" % (head, token),
    ]


REQUESTS: Final = Target("page requests", answers_a_browser, _requests, reworded)
