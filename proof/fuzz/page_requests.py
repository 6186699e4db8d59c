"""What a browser, or anybody else on the machine, asks the page of the rehearsal."""

from __future__ import annotations

import importlib.util
import io
import re
import sys
from pathlib import Path
from types import ModuleType, SimpleNamespace
from typing import Any, Final

from proof.fuzz.target import Target, reworded

if importlib.util.find_spec("yaml") is None:
    # Where there is no YAML nothing is drawn; the server does without what draws.
    _package = ModuleType("local.page")
    _package.__path__ = [str(Path(__file__).resolve().parents[2] / "local" / "page")]
    sys.modules.setdefault("local.page", _package)

from local.page.server import HOST, POLICY, _Handler
from local.page.view import UnknownClusterError

PORT: Final = 8600


class _View:
    """A page of one cluster."""

    place = SimpleNamespace(members=lambda: {"stack_name": "neuron-emf"})

    def page(self, cluster: str = "") -> dict[str, str]:
        if cluster not in {"", "training"}:
            msg = "there is no cluster of that name; there are: training"
            raise UnknownClusterError(msg)
        return {"cluster": cluster}

    cores = page


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
    server: Any = SimpleNamespace(server_address=(HOST, PORT), view=_View())
    _Handler(browser, (HOST, 1), server)  # type: ignore[arg-type]
    return browser.answered


def answers_a_browser(content: bytes) -> None:
    """Whatever is told is told to who names this machine as its host, and with the policy."""
    told = answered(content)
    answers = told.count(b"HTTP/1.1 200 OK\r\n")
    assert answers <= told.count(b"Content-Security-Policy: %b\r\n" % POLICY.encode())
    named = re.findall(rb"(?i)host[ \t]*:[ \t]*(?:127\.0\.0\.1|localhost):8600", content)
    assert answers <= len(named)
    assert b"the page has a fault" not in told


def _requests() -> list[bytes]:
    head = b"Host: 127.0.0.1:8600\r\nAccept: */*\r\n\r\n"
    paths = (b"/", b"/page.json?cluster=training", b"/cores.json", b"/rehearsal.json", b"/static/x")
    return [
        *(b"GET %b HTTP/1.1\r\n%b" % (path, head) for path in paths),
        b"HEAD http://127.0.0.1:8600/cores.json?cluster=%%41 HTTP/1.1\r\n%b" % head,
        b"GET http://[ HTTP/1.1\r\n%b" % head,
        b"POST / HTTP/1.1\r\nContent-Length: 1\r\n%bx" % head,
    ]


REQUESTS: Final = Target("page requests", answers_a_browser, _requests, reworded)
