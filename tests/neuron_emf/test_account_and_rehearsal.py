"""The account of a command, and the separation of a rehearsal from any account."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager
from string import Formatter

import pytest
from botocore import exceptions, parsers

from aggregator import aws
from neuron_emf import account as accounts
from neuron_emf.account import account, documented, refusal
from neuron_emf.command_options import AccountSettings, prices
from neuron_emf.reading import LogGroup
from neuron_emitter.delivery.cloudwatch_logs import LogStream
from neuron_emitter.errors import SourceError
from neuron_emitter.instance.instance_facts import find_instance
from neuron_emitter.instance.metadata_service import MetadataService

RIGHT_ANSWER = {
    "endpoint_url": "http://127.0.0.1:4566",
    "region": "us-east-1",
    "log_group": "/neuron-emf/records",
    "rollups_log_group": "/neuron-emf/neuron-emf/rollups",
    "stack_name": "neuron-emf",
}


@contextmanager
def page(answer: bytes, missing: int = 0):
    """
    Serve *answer* as the rehearsal's page; yield its address.

    The connection ends with the *answer*, *missing* bytes before the announced length.
    """

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.send_header("Content-Length", str(len(answer) + missing))
            self.end_headers()
            self.wfile.write(answer)

        def do_POST(self):
            self.rfile.read(int(self.headers["Content-Length"]))
            self.do_GET()

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/rehearsal.json"
        server.shutdown()
        thread.join()


def test_a_rehearsal_names_its_address(monkeypatch):
    """A rehearsal's clients reach its address with placeholder credentials, never the user's."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "real")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://logs.example.com")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.com:3128")
    with page(json.dumps(RIGHT_ANSWER).encode()) as address:
        monkeypatch.setattr(accounts, "REHEARSAL", address)
        rehearsed = account(AccountSettings(rehearsal=True))
    assert rehearsed.is_rehearsal
    assert RIGHT_ANSWER["rollups_log_group"] == rehearsed.rollups_log_group
    client = rehearsed.client("logs")
    assert RIGHT_ANSWER["endpoint_url"] == client.meta.endpoint_url
    assert "rehearsal" == client._request_signer._credentials.access_key
    assert {} == client._endpoint.http_session._proxy_config._proxies


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps(
            {**RIGHT_ANSWER, "endpoint_url": "https://logs.us-east-1.amazonaws.com"}
        ).encode(),
        json.dumps({**RIGHT_ANSWER, "endpoint_url": "http://localhost:4566"}).encode(),
        json.dumps(
            {name: RIGHT_ANSWER[name] for name in RIGHT_ANSWER if name != "region"}
        ).encode(),
        b"[]",
        b"<html>",
        b"\xff",
    ],
    ids=["an account", "a name", "no region", "a list", "no JSON", "no text"],
)
def test_another_answer_than_a_rehearsal_is_refused(monkeypatch, answer):
    """An answer that is not a rehearsal's, or leads to an account, is refused."""
    with page(answer) as address:
        monkeypatch.setattr(accounts, "REHEARSAL", address)
        with pytest.raises(SourceError, match="make demo"):
            account(AccountSettings(rehearsal=True))


@pytest.mark.parametrize("variable", ["AWS_REGION", "AWS_DEFAULT_REGION"])
def test_one_variable_names_the_region_of_every_command(monkeypatch, tmp_path, variable):
    """One variable names the Region for emitter, commands, prices and functions."""
    for name in ("AWS_REGION", "AWS_DEFAULT_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "a")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "b")
    monkeypatch.setenv(variable, "eu-north-1")
    regional = account(AccountSettings())
    no_service = MetadataService("", disabled=True)
    assert LogStream("group", "stream").missing_for_call() is None
    assert "eu-north-1" == find_instance(no_service, root=tmp_path).region
    assert "eu-north-1" == regional.region
    assert "eu-north-1" == regional.client("logs").meta.region_name
    assert "eu-north-1" == prices("").region
    assert "eu-north-1" == aws.client("sns").meta.region_name


def test_the_option_for_the_region_overrides_variables(monkeypatch):
    """An option names a Region; AWS_REGION, which ECS and EKS set, does not change it."""
    monkeypatch.setenv("AWS_REGION", "eu-north-1")
    assert "us-west-2" == account(AccountSettings(region="us-west-2")).region


def refused(code, operation="DescribeStacks", words="some words"):
    """Return the error that a client raises for AWS's answer."""
    return exceptions.ClientError({"Error": {"Code": code, "Message": words}}, operation)


def sdk_errors():
    """Return one error of each class of the SDK's exceptions."""
    for error_class in (*vars(exceptions).values(), parsers.ResponseParserError):
        if not isinstance(error_class, type) or not issubclass(error_class, Exception):
            continue
        names = [
            name for _, name, _, _ in Formatter().parse(getattr(error_class, "fmt", "")) if name
        ]
        fields = dict.fromkeys(names, "https://x.us-west-2.amazonaws.com")
        if issubclass(error_class, exceptions.ClientError):
            yield error_class({"Error": {"Code": "Whatever"}}, "DescribeStacks")
        elif error_class is exceptions.WaiterError:
            yield error_class(**fields, last_response={})
        elif not issubclass(error_class, Warning):
            yield error_class(**fields)


def test_every_error_of_the_sdk_has_its_next_step():
    """Every error of the SDK is one line with service and next step, and exit code 3."""
    for error in sdk_errors():
        with pytest.raises(SourceError) as found, documented("cloudformation:DescribeStacks"):
            raise error
        sentence = str(found.value)
        assert 3 == found.value.exit_code
        assert sentence.startswith(
            ("Cannot reach CloudFormation in us-west-2 (", "cloudformation:De")
        )
        assert sentence.endswith((*accounts._ERROR_ADVICE.values(), "or correct the region.")), (
            sentence
        )
        assert "\n" not in sentence
        assert len(sentence) < 600


@pytest.mark.parametrize(
    ("advice", "errors"),
    [
        (
            "Renew your credentials",
            [
                *map(refused, ("ExpiredToken", "ExpiredTokenException")),
                exceptions.UnauthorizedSSOTokenError(),
            ],
        ),
        (
            "Configure valid AWS credentials",
            [
                *map(
                    refused,
                    (
                        "InvalidClientTokenId",
                        "UnrecognizedClientException",
                        "InvalidAccessKeyId",
                        "AuthFailure",
                    ),
                ),
                refused("AccessDenied", "AssumeRole"),
                exceptions.NoCredentialsError(),
            ],
        ),
        (
            "Allow this action in your IAM policy",
            map(
                refused,
                (
                    "AccessDenied",
                    "AccessDeniedException",
                    "UnauthorizedOperation",
                    "AuthorizationError",
                ),
            ),
        ),
        (
            "Correct HTTPS_PROXY",
            [*map(refused, ("403", "407")), exceptions.ProxyConnectionError(proxy_url="http://x")],
        ),
        (
            "the policy of the VPC endpoint",
            [refused("AccessDenied", words="because no VPC endpoint policy allows the action")],
        ),
        (
            "clock of this machine or the secret access key",
            map(
                refused,
                (
                    "SignatureDoesNotMatch",
                    "InvalidSignatureException",
                    "RequestTimeTooSkewed",
                    "RequestExpired",
                ),
            ),
        ),
        (
            "Wait a minute",
            map(refused, ("Throttling", "RequestLimitExceeded", "SlowDown", "InternalFailure")),
        ),
        (
            "Check the names",
            [
                refused("ResourceNotFoundException"),
                refused("ValidationError", words="Stack with id x does not exist"),
            ],
        ),
        (
            "check for a proxy",
            [
                exceptions.ConnectionClosedError(endpoint_url="https://x"),
                exceptions.ReadTimeoutError(endpoint_url="https://x"),
                exceptions.ResponseStreamingError(error="x"),
            ],
        ),
    ],
)
def test_advice_follows_from_the_cause(advice, errors):
    """Advice follows from the cause of a rejection, for every name that AWS has for the cause."""
    for error in errors:
        sentence = str(refusal(error, "cloudformation:DescribeStacks"))
        assert advice in sentence, sentence
        assert "cloudformation:DescribeStacks" in sentence
        assert "None" not in sentence


def test_a_denied_head_of_s3_has_only_a_status():
    """A denied S3 HEAD has only a status: S3 sends no body, so it is not a proxy's answer."""
    sentence = str(refusal(refused("403", "HeadObject"), "s3:HeadObject"))
    assert "Allow this action in your IAM policy" in sentence


@pytest.mark.parametrize(
    ("answer", "missing"), [(b'{"events":[', 9), (b"<html>Sign in</html>", 0), (b"", 0)]
)
def test_half_an_answer_is_not_an_empty_answer(monkeypatch, answer, missing):
    """A truncated response or a proxy's page is an error, although the SDK accepts it as empty."""
    monkeypatch.setattr(accounts, "_MAX_CALL_ATTEMPTS", 1)
    with page(answer, missing) as address:
        monkeypatch.setenv("AWS_ENDPOINT_URL", address.removesuffix("/rehearsal.json"))
        regional = account(AccountSettings(region="us-west-2"))
        with pytest.raises(SourceError, match="logs:FilterLogEvents on /neuron-emf/records failed"):
            list(LogGroup(regional, regional.log_group).read_lines(0, 60_000))
