"""The instance metadata service: version 2 or nothing, where the SDKs' variables say."""

from __future__ import annotations

import pytest
from played_services import TOKEN_PATH, redirect_to

from emitter.instance.metadata_service import (
    IPV4_ENDPOINT,
    IPV6_ENDPOINT,
    MetadataError,
    MetadataService,
)

PATH = "/latest/meta-data/instance-id"


def test_a_token_comes_first_and_serves_all_questions(imds):
    """One PUT a session; the token is in each question after it."""
    imds.routes[PATH] = "i-1"
    service = MetadataService(imds.url)
    assert ("i-1", "i-1") == (service.text(PATH), service.text(PATH))
    assert [TOKEN_PATH] == imds.paths("PUT")
    assert "300" == imds.asked[0][2]["X-aws-ec2-metadata-token-ttl-seconds"]


def test_an_expired_token_is_replaced_once(imds):
    """A 401 in the middle of a session costs one more PUT and no answer."""
    imds.routes[PATH] = "i-1"
    service = MetadataService(imds.url)
    service.get(PATH)
    imds.expire()
    assert "i-1" == service.text(PATH)
    assert 2 == len(imds.paths("PUT"))


def test_a_service_that_takes_no_token_is_given_up(imds):
    """A second 401 is an answer, not a reason to go on for ever."""
    imds.routes[TOKEN_PATH] = "refused"
    with pytest.raises(MetadataError, match="401"):
        MetadataService(imds.url).get(PATH)
    assert 2 == len(imds.paths("PUT"))


@pytest.mark.parametrize("status", [400, 403, 404, 405, 500])
def test_without_a_token_nothing_is_asked(status, imds):
    """Version 1 is never tried: whoever turned it off had a reason."""
    imds.routes[TOKEN_PATH] = status
    with pytest.raises(MetadataError, match=str(status)):
        MetadataService(imds.url).get(PATH)
    assert [] == imds.paths()


@pytest.mark.parametrize("token", ["", "a\nb", b"\xff", "x" * 2000, "tök"])
def test_what_cannot_be_a_header_is_no_token(token, imds):
    """It would go into the next request as it is."""
    imds.routes[TOKEN_PATH] = token
    with pytest.raises(MetadataError):
        MetadataService(imds.url).get(PATH)
    assert [] == imds.paths()


def test_what_is_not_there_is_none(imds):
    """A 404 is knowledge, no failure; so is an empty text."""
    imds.routes["/empty"] = ""
    service = MetadataService(imds.url)
    assert (None, None) == (service.get("/nowhere"), service.text("/empty"))


def test_any_other_status_is_a_failure(imds, play):
    """A redirect is one of them, and its target is not asked."""
    other = play()
    imds.routes[PATH], imds.routes["/later"] = redirect_to(other.url), 503
    service = MetadataService(imds.url)
    with pytest.raises(MetadataError, match="302"):
        service.get(PATH)
    with pytest.raises(MetadataError, match="503"):
        service.get("/later")
    assert [] == other.asked


@pytest.mark.parametrize("value", ["true", "True", " TRUE "])
def test_turned_off_by_variable_nobody_is_asked(value, imds):
    """AWS_EC2_METADATA_DISABLED means here what it means to the SDKs."""
    environ = {"AWS_EC2_METADATA_DISABLED": value, "AWS_EC2_METADATA_SERVICE_ENDPOINT": imds.url}
    service = MetadataService.from_environment(environ)
    assert service.disabled
    with pytest.raises(MetadataError, match="AWS_EC2_METADATA_DISABLED is true"):
        service.get(PATH)
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
