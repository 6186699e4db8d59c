"""
Who asks: signatures of the real SDK, and what the loopback CloudWatch Logs finds wrong with some.
"""

from __future__ import annotations

import time

import pytest
from botocore.auth import SigV4Auth
from botocore.awsrequest import AWSRequest
from botocore.credentials import Credentials
from hypothesis import given
from hypothesis import strategies as st

from proof.logs.asking import error_of, messages, put, words_of
from proof.logs.forms import ServiceError
from proof.logs.signature import signer_of

KEYS = {"AKIDEXAMPLE": "wJalrXUtnFEMI", "AKIDEXPIRED": None}
MISMATCH = ("InvalidSignatureException", 400)


def signed(body=b"{}", key="AKIDEXAMPLE", secret=KEYS["AKIDEXAMPLE"], service="logs"):
    """Headers as the SDK sends them, of a request that it signed now."""
    headers = {"X-Amz-Target": "Logs_20140328.PutLogEvents", "Content-Type": "a  b", "Host": "h:1"}
    request = AWSRequest("POST", "http://h:1/", headers=headers, data=body)
    SigV4Auth(Credentials(key, secret), service, "eu-north-1").add_auth(request)
    return {name.lower(): value for name, value in request.headers.items()}


def refusal(headers, body=b"{}", now_s=None):
    """The name of the error that a request gets."""
    with pytest.raises(ServiceError) as found:
        signer_of(headers, body, KEYS, time.time() if now_s is None else now_s)
    return found.value.code


@given(st.binary(max_size=99))
def test_what_the_sdk_signs_is_known(body):
    """Whatever it says: the key, and the region it is for. One bit of it, and it is not."""
    found = signer_of(signed(body), body, KEYS, time.time())
    assert ("AKIDEXAMPLE", "eu-north-1") == (found.access_key, found.region)
    assert MISMATCH[0] == refusal(signed(body), body + b" ")


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("x-amz-target", "Logs_20140328.CreateLogStream"),
        ("host", "elsewhere"),
        ("content-type", "a c"),
    ],
)
def test_every_signed_header_counts(name, value):
    """Another value of it is another request."""
    assert MISMATCH[0] == refusal({**signed(), name: value})


def test_what_is_not_signed_right_is_named():
    """Not at all, in part, by nobody, by an old key, for another service, with another secret."""
    whole = signed()
    assert "MissingAuthenticationTokenException" == refusal({})
    incomplete = "IncompleteSignatureException"
    assert incomplete == refusal({**whole, "authorization": "Basic dGVzdGluZw=="})
    assert incomplete == refusal({**whole, "x-amz-security-token": "not signed"})
    assert incomplete == refusal({name: whole[name] for name in whole if name != "host"})
    assert incomplete == refusal({**whole, "x-amz-date": "yesterday"})
    assert "UnrecognizedClientException" == refusal(signed(key="AKIDOTHER"))
    assert "ExpiredTokenException" == refusal(signed(key="AKIDEXPIRED"))
    assert MISMATCH[0] == refusal(signed(service="monitoring"))
    assert MISMATCH[0] == refusal(signed(secret="another"))


@pytest.mark.parametrize(
    ("skew_s", "words"),
    [(299, None), (-299, None), (301, "Signature not yet current"), (-301, "Signature expired")],
)
def test_a_clock_may_be_5_minutes_off(skew_s, words, service, client):
    """Of the signer's; the words say by which clock it is refused."""
    service.signing_clock = lambda: time.time() - skew_s
    if words is None:
        put(client, (0, "x"))
        assert ["x"] == messages(service)
    else:
        assert MISMATCH == error_of(client, (0, "x"))
        said = words_of(lambda: put(client, (0, "x")))
        assert said.startswith(words)
        assert " 5 min.)" in said
        assert [] == messages(service)


def test_keys_come_and_go(service, client):
    """Each call is looked at by the keys of its time; what was refused is in the record."""
    put(client, (0, "before"))
    service.keys["testing"] = None
    assert ("ExpiredTokenException", 400) == error_of(client, (0, "x"))
    service.keys["testing"] = "another"
    assert MISMATCH == error_of(client, (0, "x"))
    del service.keys["testing"]
    assert ("UnrecognizedClientException", 400) == error_of(client, (0, "x"))
    service.keys["testing"] = "testing"
    put(client, (0, "after"))
    assert ["before", "after"] == messages(service)
    assert [
        ("PutLogEvents", 200, "testing"),
        ("ExpiredTokenException", 400, ""),
        ("InvalidSignatureException", 400, ""),
        ("UnrecognizedClientException", 400, ""),
        ("PutLogEvents", 200, "testing"),
    ] == [(call.what, call.status, call.access_key) for call in service.calls]
