"""Requests to services of this host end in time and in bounds. Only IMDS version 2 is used."""

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
    """One PUT gets a token for all requests of a session."""
    imds.routes[ASKED_PATH] = "i-1"
    service = MetadataService(imds.url)
    assert "i-1" == service.get_text(ASKED_PATH)
    assert "i-1" == service.get_text(ASKED_PATH)
    assert [TOKEN_PATH] == imds.paths("PUT")
    assert "300" == imds.asked[0][2]["X-aws-ec2-metadata-token-ttl-seconds"]


def test_an_expired_token_is_replaced_once(imds):
    """After a 401, an expired token is replaced once, and the request is repeated."""
    imds.routes[ASKED_PATH] = "i-1"
    service = MetadataService(imds.url)
    service.get_reply(ASKED_PATH)
    imds.expire()
    assert "i-1" == service.get_text(ASKED_PATH)
    assert 2 == len(imds.paths("PUT"))


@pytest.mark.parametrize("status", [400, 403, 404, 405, 500])
def test_without_a_token_nothing_is_asked(status, imds):
    """Without a token no request is sent. Version 1, which operators turn off, is never used."""
    imds.routes[TOKEN_PATH] = status
    with pytest.raises(LocalHttpError, match=str(status)):
        MetadataService(imds.url).get_reply(ASKED_PATH)
    assert [] == imds.paths()


@pytest.mark.parametrize("value", ["true", "True", " TRUE "])
def test_the_variable_turns_off_all_requests(value, imds):
    """AWS_EC2_METADATA_DISABLED stops all requests, as in the SDKs."""
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
    """An endpoint variable wins over a mode, as in the SDKs."""
    service = MetadataService.from_environment(environ)
    assert expected == service._endpoint
    assert not service.disabled


@contextlib.contextmanager
def saying(raw):
    """Yield the address of a server that answers the first request with *raw* and disconnects."""
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
def test_any_bytes_are_an_answer_or_a_local_http_error(raw):
    """Any bytes of a server are an answer or a LocalHttpError."""
    with saying(raw) as url, contextlib.suppress(LocalHttpError):
        assert isinstance(exchange(url).status, int)


def test_an_answer_comes_with_its_status_and_what_was_sent(play):
    """An answer has status and text; the caller judges the status. Headers are sent."""
    service = play({"/here": "yes \n"})
    answer = exchange(f"{service.url}/here", headers={"X-Mark": "1"})
    assert 200 == answer.status
    assert "yes" == answer.text()
    assert 404 == exchange(f"{service.url}/elsewhere").status
    assert "1" == service.asked[0][2]["X-Mark"]


@pytest.mark.parametrize("behavior", ["never", "drip"])
def test_an_endless_answer_is_abandoned(behavior, play, patience):
    """A server that is silent or sends a byte at a time is abandoned in time."""
    service = play()
    service.routes["/"] = getattr(service, behavior)
    patience(SHORT_BOUND_S)
    with pytest.raises(LocalHttpError, match="in time"):
        exchange(f"{service.url}/")


def test_a_body_at_the_limit_is_read_and_one_byte_more_is_not(play):
    """A body of 64 KiB is read, and one more byte is refused."""
    limit = MAX_BODY_BYTES
    service = play({"/all": b"x" * limit, "/more": b"x" * (limit + 1)})
    assert limit == len(exchange(f"{service.url}/all").body)
    with pytest.raises(LocalHttpError, match="larger than 64 KiB"):
        exchange(f"{service.url}/more")


def test_a_redirect_is_not_followed(play):
    """A redirect is not followed, because it can lead to another host."""
    other = play({"/": "stolen"})
    service = play({"/": redirect_to(f"{other.url}/")})
    assert 302 == exchange(f"{service.url}/").status
    assert [] == other.asked


@pytest.mark.parametrize("variable", ["http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"])
def test_a_proxy_is_never_asked(variable, play, monkeypatch):
    """A proxy is never used, because a link-local address is this host's."""
    proxy = play({"/": "stolen"})
    service = play({"/": "ours"})
    monkeypatch.setenv(variable, proxy.url)
    monkeypatch.delenv("no_proxy", raising=False)
    assert "ours" == exchange(f"{service.url}/").text()
    assert [] == proxy.asked


@pytest.mark.parametrize(
    "url", ["", "https://127.0.0.1/", "file:///etc/passwd", "http://", "http://x:port/", "http://["]
)
def test_an_address_that_is_not_an_http_url_is_refused(url):
    """An address that is not an HTTP URL is an error, because a variable can hold any text."""
    with pytest.raises(LocalHttpError, match=r"is not an? (http )?URL"):
        exchange(url)
