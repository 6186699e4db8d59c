"""Tags from the EC2 API: one signed request. A failure is a source without a name."""

from __future__ import annotations

from urllib.parse import parse_qs

import pytest
from hypothesis import given
from hypothesis import strategies as st

from neuron_emitter.instance import instance_tags
from neuron_emitter.instance.instance_tags import TagsUnavailableError, describe_tags
from proof.factories.records import AN_INSTANCE

TAGS_REGION = "eu-north-1"
ANSWER = """<?xml version="1.0" encoding="UTF-8"?>
<DescribeTagsResponse xmlns="http://ec2.amazonaws.com/doc/2016-11-15/">
   <requestId>7a62c49f-347e-4fc4-9331-6e8eEXAMPLE</requestId>
   <tagSet>
      <item>
         <resourceId>i-0123456789abcdef0</resourceId>
         <resourceType>instance</resourceType>
         <key>kubernetes.io/cluster/serving</key>
         <value>owned</value>
      </item>
      <item>
         <resourceId>i-0123456789abcdef0</resourceId>
         <resourceType>instance</resourceType>
         <key>empty</key>
         <value/>
      </item>
   </tagSet>
</DescribeTagsResponse>"""
REFUSAL = (
    "<Response><Errors><Error><Code>{}</Code><Message>not you</Message></Error></Errors>"
    "<RequestID>x</RequestID></Response>"
)


@pytest.fixture(autouse=True)
def credentials(monkeypatch, tmp_path):
    """Set invented keys, and remove other sources of credentials."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIDEXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_SHARED_CREDENTIALS_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    for name in ("AWS_SESSION_TOKEN", "AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CA_BUNDLE"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture
def ec2(play):
    """Return a played EC2 service that keeps the bodies of requests."""
    service = play()
    service.bodies = []

    def answer(request):
        service.bodies.append(request.rfile.read(int(request.headers["Content-Length"])).decode())
        status, body = service.says
        request.send_response(status)
        request.send_header("Content-Length", str(len(body)))
        request.end_headers()
        request.wfile.write(body)

    service.says = (200, ANSWER.encode())
    service.routes["/"] = answer
    service.environ = {"AWS_ENDPOINT_URL_EC2": f"{service.url}/"}
    return service


def test_one_signed_request_gives_all_tags(ec2):
    """One signed request returns all tags of the instance, also keys that IMDS cannot have."""
    tags = describe_tags(AN_INSTANCE, TAGS_REGION, environ=ec2.environ)
    assert {"kubernetes.io/cluster/serving": "owned", "empty": ""} == tags
    (body,) = ec2.bodies
    assert {
        "Action": ["DescribeTags"],
        "Version": ["2016-11-15"],
        "Filter.1.Name": ["resource-id"],
        "Filter.1.Value.1": [AN_INSTANCE],
    } == parse_qs(body)
    (method, _path, headers), *_ = ec2.asked
    assert "POST" == method
    assert f"/{TAGS_REGION}/ec2/aws4_request" in headers["Authorization"]


@pytest.mark.parametrize(
    ("why", "status", "code"),
    [
        ("access denied: the role does not allow ec2:DescribeTags", 403, "UnauthorizedOperation"),
        ("status 401, AuthFailure", 401, "AuthFailure"),
        ("status 503, RequestLimitExceeded", 503, "RequestLimitExceeded"),
    ],
)
def test_a_refusal_is_reported_with_its_code(why, status, code, ec2):
    """A refusal is reported with its code. A role often lacks the permission."""
    ec2.says = (status, REFUSAL.format(code).encode())
    with pytest.raises(TagsUnavailableError) as raised:
        describe_tags(AN_INSTANCE, TAGS_REGION, environ=ec2.environ)
    assert why == str(raised.value)


@given(st.binary(max_size=200))
def test_any_answer_has_tags_or_a_reason(body):
    """Any answer gives tags or a reason, and raises no exception."""
    assert isinstance(instance_tags._tags(body), (dict, str))
    assert instance_tags._refusal(500, body).startswith("status 500")


def test_tags_are_unavailable_without_a_connection_or_credentials(closed_url, monkeypatch):
    """Without a connection or credentials, tags are unavailable with a reason, not a traceback."""
    with pytest.raises(TagsUnavailableError, match="failed with EndpointConnectionError"):
        describe_tags(AN_INSTANCE, TAGS_REGION, environ={"AWS_ENDPOINT_URL": closed_url})
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    with pytest.raises(TagsUnavailableError, match="no AWS credentials found"):
        describe_tags(AN_INSTANCE, TAGS_REGION, environ={"AWS_ENDPOINT_URL": closed_url})


def test_without_a_region_no_request_is_sent(ec2):
    """Without a region, no request is sent: endpoint and signature need it."""
    with pytest.raises(TagsUnavailableError, match="no AWS region is set"):
        describe_tags(AN_INSTANCE, None, environ=ec2.environ)
    assert [] == ec2.asked


def test_a_silent_api_is_abandoned(ec2, monkeypatch):
    """An API that does not answer is abandoned in time, also while the SDK seeks credentials."""
    ec2.routes["/"] = ec2.never
    monkeypatch.setattr("neuron_emitter.instance.instance_tags.API_WITHIN_S", 0.2)
    with pytest.raises(TagsUnavailableError, match=r"no response within 0\.2 s"):
        describe_tags(AN_INSTANCE, TAGS_REGION, environ=ec2.environ)
