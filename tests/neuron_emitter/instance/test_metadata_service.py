"""Exchanges with services of this host end in time and in bounds; IMDS version 2 only."""

from __future__ import annotations

import contextlib
import socket
import threading

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.instance.local_http import (
    MAX_BODY_BYTES,
    LocalHttpError,
    exchange,
)
from neuron_emitter.instance.metadata_service import (
    IPV4_ENDPOINT,
    IPV6_ENDPOINT,
    MetadataService,
)
from tests.neuron_emitter.instance_services import TOKEN_PATH, redirect_to

ASKED_PATH = "/latest/meta-data/instance-id"
SHORT_BOUND_S = 0.3


def test_a_token_comes_first_and_serves_all_questions(imds):
    """One PUT a session; the token is in each question after it."""
    imds.routes[ASKED_PATH] = "i-1"
    service = MetadataService(imds.url)
    assert "i-1" == service.get_text(ASKED_PATH)
    assert "i-1" == service.get_text(ASKED_PATH)
    assert [TOKEN_PATH] == imds.paths("PUT")
    assert "300" == imds.asked[0][2]["X-aws-ec2-metadata-token-ttl-seconds"]


def test_an_expired_token_is_replaced_once(imds):
    """A 401 in the middle of a session costs one more PUT and no answer."""
    imds.routes[ASKED_PATH] = "i-1"
    service = MetadataService(imds.url)
    service.get_reply(ASKED_PATH)
    imds.expire()
    assert "i-1" == service.get_text(ASKED_PATH)
    assert 2 == len(imds.paths("PUT"))


@pytest.mark.parametrize("status", [400, 403, 404, 405, 500])
def test_without_a_token_nothing_is_asked(status, imds):
    """Version 1 is never tried: whoever turned it off had a reason."""
    imds.routes[TOKEN_PATH] = status
    with pytest.raises(LocalHttpError, match=str(status)):
        MetadataService(imds.url).get_reply(ASKED_PATH)
    assert [] == imds.paths()


@pytest.mark.parametrize("value", ["true", "True", " TRUE "])
def test_turned_off_by_variable_nobody_is_asked(value, imds):
    """AWS_EC2_METADATA_DISABLED means here what it means to the SDKs."""
    environ = {"AWS_EC2_METADATA_DISABLED": value, "AWS_EC2_METADATA_SERVICE_ENDPOINT": imds.url}
    service = MetadataService.from_environment(environ)
    assert service.disabled
    with pytest.raises(LocalHttpError, match="AWS_EC2_METADATA_DISABLED is true"):
        service.get_reply(ASKED_PATH)
    assert [] == imds.asked


@pytest.mark.parametrize(
    ("expected", "environ"),
    [
        (IPV4_ENDPOINT, {}),
        (IPV4_ENDPOINT, {"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv4"}),
        (IPV6_ENDPOINT, {"AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6"}),
        (
            "http://127.0.0.1:1",
            {
                "AWS_EC2_METADATA_SERVICE_ENDPOINT": "http://127.0.0.1:1/",
                "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "IPv6",
            },
        ),
    ],
)
def test_the_address_is_the_one_the_variables_name(expected, environ):
    """An endpoint wins over a mode, as in the SDKs."""
    service = MetadataService.from_environment(environ)
    assert expected == service._endpoint
    assert not service.disabled


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


def test_an_answer_comes_with_its_status_and_what_was_sent(play):
    """A status that is no success is the caller's to judge."""
    service = play({"/here": "yes \n"})
    found = exchange(f"{service.url}/here", headers={"X-Mark": "1"})
    assert 200 == found.status
    assert "yes" == found.text()
    assert 404 == exchange(f"{service.url}/elsewhere").status
    assert "1" == service.asked[0][2]["X-Mark"]


@pytest.mark.parametrize("behavior", ["never", "drip"])
def test_a_service_that_does_not_end_its_answer_is_left(behavior, play, patience):
    """Neither silence nor a byte at a time keeps us longer than the bound."""
    service = play()
    service.routes["/"] = getattr(service, behavior)
    patience(SHORT_BOUND_S)
    with pytest.raises(LocalHttpError, match="in time"):
        exchange(f"{service.url}/")


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
    proxy = play({"/": "stolen"})
    service = play({"/": "ours"})
    monkeypatch.setenv(variable, proxy.url)
    monkeypatch.delenv("no_proxy", raising=False)
    assert "ours" == exchange(f"{service.url}/").text()
    assert [] == proxy.asked


@pytest.mark.parametrize(
    "url", ["", "https://127.0.0.1/", "file:///etc/passwd", "http://", "http://x:port/", "http://["]
)
def test_what_is_no_http_address_is_said_to_be_none(url):
    """A variable holds it, so it may hold anything."""
    with pytest.raises(LocalHttpError, match=r"is not an? (http )?URL"):
        exchange(url)
