"""An exchange with a service of this host ends in time, in bounds, and nowhere else."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st
from played_services import redirect_to

from emitter.instance.local_http import (
    MAX_BODY_BYTES,
    LocalHttpError,
    Reply,
    exchange,
)

SHORT_S = 0.3


@contextlib.contextmanager
def saying(raw):
    """A server that says *raw* to the first that asks, and hangs up."""
    with socket.create_server(("127.0.0.1", 0)) as server:

        def answer():
            with contextlib.suppress(OSError):
                connection, _ = server.accept()
                with connection:
                    connection.recv(4096)
                    connection.sendall(raw)

        thread = threading.Thread(target=answer, daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.getsockname()[1]}/"
        thread.join()


@given(st.binary(max_size=300) | st.binary(max_size=200).map(b"HTTP/1.1 200 OK\r\n".__add__))
def test_whatever_is_said_is_an_answer_or_an_error_of_ours(raw):
    """No other exception leaves an exchange, whoever it is that listens there."""
    with saying(raw) as url, contextlib.suppress(LocalHttpError):
        assert isinstance(exchange(url).status, int)


@given(st.binary(max_size=200) | st.integers(1, 20_000).map(b"[".__mul__))
def test_a_body_that_is_no_json_object_is_an_error_of_ours(body):
    """Garbage, a bare value and a nesting too deep to read are refused alike."""
    with contextlib.suppress(LocalHttpError):
        assert isinstance(Reply(200, body).json_object(), dict)


def test_an_answer_comes_with_its_status_and_what_was_sent(play):
    """A status that is no success is the caller's to judge."""
    service = play({"/here": "yes \n"})
    found = exchange(f"{service.url}/here", headers={"X-Mark": "1"})
    assert (200, "yes") == (found.status, found.text())
    assert 404 == exchange(f"{service.url}/elsewhere").status
    assert "1" == service.asked[0][2]["X-Mark"]


@pytest.mark.parametrize("behavior", ["never", "drip"])
def test_a_service_that_does_not_end_its_answer_is_left(behavior, play, patience):
    """Neither silence nor a byte at a time keeps us longer than the bound."""
    service = play()
    service.routes["/"] = getattr(service, behavior)
    patience(SHORT_S)
    with pytest.raises(LocalHttpError, match="in time"):
        exchange(f"{service.url}/")


def test_a_moment_that_has_passed_is_not_waited_for(play):
    """What a round of questions has used up is not used again."""
    service = play({"/": "yes"})
    with pytest.raises(LocalHttpError, match="in time"):
        exchange(f"{service.url}/", ends_at_s=0.0)
    assert [] == service.asked


def test_a_body_at_the_limit_is_read_and_one_byte_more_is_not(play):
    """What claims to be a name is no reason to fill the memory."""
    limit = MAX_BODY_BYTES
    service = play({"/all": b"x" * limit, "/more": b"x" * (limit + 1)})
    assert limit == len(exchange(f"{service.url}/all").body)
    with pytest.raises(LocalHttpError, match="larger than 64 KiB"):
        exchange(f"{service.url}/more")


def test_a_redirect_is_not_followed(play):
    """It could lead from this host to any other."""
    other = play({"/": "stolen"})
    service = play({"/": redirect_to(f"{other.url}/")})
    assert 302 == exchange(f"{service.url}/").status
    assert [] == other.asked


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
def test_a_proxy_is_never_asked(variable, play, monkeypatch):
    """A link-local address is this host's; a proxy would ask about its own."""
    proxy, service = play({"/": "stolen"}), play({"/": "ours"})
    monkeypatch.setenv(variable, proxy.url)
    monkeypatch.delenv("no_proxy", raising=False)
    assert "ours" == exchange(f"{service.url}/").text()
    assert [] == proxy.asked


def test_nobody_there_is_said_with_the_address(closed_url):
    """The reader of the message knows which service was meant."""
    with pytest.raises(LocalHttpError) as raised:
        exchange(closed_url)
    assert f"nothing is listening at {closed_url.removeprefix('http://')}" == str(raised.value)


@pytest.mark.parametrize(
    "url", ["", "https://127.0.0.1/", "file:///etc/passwd", "http://", "http://x:port/", "http://["]
)
def test_what_is_no_http_address_is_said_to_be_none(url):
    """A variable holds it, so it may hold anything."""
    with pytest.raises(LocalHttpError, match=r"is not an? (http )?URL"):
        exchange(url)


def test_a_body_that_is_no_text_is_an_error_of_ours():
    """Names are text."""
    with pytest.raises(LocalHttpError, match="not UTF-8 text"):
        Reply(200, b"\xff\xfe").text()
