"""The page by HTTP and its command: files for this machine, data for holders of the token."""

from __future__ import annotations

import http.client
import json
import os
import signal
import subprocess
import sys
import urllib.request
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import ClientError
from hypothesis import given
from hypothesis import strategies as st

from neuron_emf.account import NoOutputError, documented
from neuron_emf.page.server import (
    CONTENT_SECURITY_POLICY,
    HOST,
    STATIC,
    TOKEN_HEADER,
    PageServer,
    problem_of,
    static,
)
from neuron_emf.page.view import UnknownClusterError
from neuron_emitter.errors import SettingsError, SourceError
from tests.neuron_emf.fake_account import OWN_QUERY
from tests.neuron_emf.page.page_account import ledger_of, view_of

SELF = {"'self'", "'none'", "data:"}
DATA_PATHS = ("/overview.json", "/query.json", "/none.json")


VIEW: Any = SimpleNamespace(
    reads={"/overview.json": lambda query: {"cluster": query.get("cluster")}},
    runs={"/query.json": lambda query: {"ran": dict(query)}},
)


@pytest.fixture
def server():
    """Yield a server at a free port, with one public document."""
    with PageServer((HOST, 0), VIEW, {"/open.json": lambda: {"open": True}}) as started:
        yield started


def ask(server, path, method="GET", host=None, token=None):
    """Return status, headers and content of one answer, by default with the right token."""
    connection = http.client.HTTPConnection(HOST, server.port, timeout=300)
    try:
        headers = {TOKEN_HEADER: server.token if token is None else token}
        headers |= {"Host": host} if host is not None else {}
        connection.request(method, path, headers=headers)
        answer = connection.getresponse()
        return answer.status, dict(answer.getheaders()), answer.read()
    finally:
        connection.close()


def read_json(server, path, **options):
    """Return status and JSON of one answer."""
    status, headers, content = ask(server, path, **options)
    assert "application/json" == headers["Content-Type"]
    return status, json.loads(content)


def test_data_are_those_of_the_view(server):
    """Data are the view's answers as JSON, for the chosen cluster; a paid action is a POST."""
    assert (200, {"cluster": "training"}) == read_json(server, "/overview.json?cluster=training")
    assert (200, {"cluster": ""}) == read_json(server, "/overview.json?cluster=")
    assert (200, {"ran": {"name": "x"}}) == read_json(server, "/query.json?name=x", method="POST")
    assert 404 == read_json(server, "/query.json")[0]
    assert 404 == read_json(server, "/overview.json", method="POST")[0]


@pytest.mark.parametrize("token", ["", "x", "ä", "right and more"])
@pytest.mark.parametrize("path", DATA_PATHS)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_without_the_token_there_are_no_data(server, path, token, method):
    """Without the right token every request gets the same answer and no data."""
    given = server.token + token if "more" in token else token
    status, answer = read_json(server, path, method=method, token=given.encode())
    assert 401 == status
    assert answer["error"].startswith("The token is missing or wrong.")
    assert "token" == answer["kind"]


@pytest.mark.parametrize(
    ("code", "kind", "action"),
    [
        ("AccessDeniedException", "denied", "logs:FilterLogEvents"),
        ("ResourceNotFoundException", "stack", "neuron-emf deploy"),
        ("ThrottlingException", "busy", ""),
        ("ExpiredTokenException", "credentials", "aws sso login"),
    ],
)
def test_what_aws_refuses_has_a_kind_and_what_to_do(code, kind, action):
    """An AWS refusal has a kind and the missing action or command next to the sentence."""
    answer = {"Error": {"Code": code, "Message": "no"}, "ResponseMetadata": {"HTTPStatusCode": 400}}
    with pytest.raises(SourceError) as caught, documented("logs:FilterLogEvents on lines"):
        raise ClientError(answer, "FilterLogEvents")
    status, problem = problem_of(caught.value)
    assert 503 == status
    assert {"error": str(caught.value), "kind": kind, "action": action} == problem


@pytest.mark.parametrize(
    ("error", "status", "kind"),
    [
        (NoOutputError("no ledger"), 503, "ledger"),
        (UnknownClusterError("no cluster"), 404, "cluster"),
        (ZeroDivisionError("secret"), 500, "fault"),
    ],
)
def test_every_other_error_has_a_kind(error, status, kind):
    """Each error has a kind. An unexpected exception shows only its type, never its text."""
    found, problem = problem_of(error)
    assert status == found
    assert kind == problem["kind"]
    assert "secret" not in problem["error"]


def test_a_token_has_256_bits_and_is_in_the_fragment_alone(server):
    """
    The token has 256 bits and is only in the fragment, which browsers never send; there is no
    cookie.
    """
    assert server.url == f"http://{HOST}:{server.port}/#token={server.token}"
    assert 43 == len(server.token)  # 32 bytes, six bits a letter
    with PageServer((HOST, 0), VIEW) as another:
        assert another.token != server.token
    for path in ("/", "/overview.json"):
        assert "Set-Cookie" not in ask(server, path)[1]


@given(st.text(max_size=30))
def test_no_name_leads_out_of_the_folder(name):
    """A file name never leads out of the page's folder."""
    content = static(name)
    assert content is None or content == (STATIC / name).read_bytes()


@pytest.mark.parametrize("host", ["evil.example", "evil.example:8600", "", "127.0.0.1", "[::1]"])
def test_a_request_that_names_another_host_is_refused(server, host):
    """
    A request with another Host is refused, because another page could use its own name for us.
    """
    for path in ("/", "/overview.json", "/open.json", "/static/main.js"):
        status, answer = read_json(server, path, host=host)
        assert 403 == status
        assert "127.0.0.1" in answer["error"]


@pytest.mark.parametrize("path", ["/", "/overview.json", "/static/main.js", "/none"])
def test_every_answer_forbids_everything_from_elsewhere(server, path):
    """Every answer forbids scripts and styles of other hosts, inline ones, and frames."""
    _, headers, _ = ask(server, path)
    assert CONTENT_SECURITY_POLICY == headers["Content-Security-Policy"]
    rules = {rule.split()[0]: set(rule.split()[1:]) for rule in CONTENT_SECURITY_POLICY.split(";")}
    assert {"'none'"} == rules["default-src"]
    assert {"'self'"} == rules["script-src"]
    assert all(sources <= SELF for sources in rules.values())
    assert {"'none'"} == rules["frame-ancestors"]
    assert "nosniff" == headers["X-Content-Type-Options"]
    assert "no-store" == headers["Cache-Control"]


@pytest.mark.parametrize("method", ["PUT", "DELETE", "OPTIONS"])
def test_it_only_reads(server, method):
    """A method that would change something is refused."""
    assert 501 == ask(server, "/overview.json", method=method)[0]


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "localhost"])
def test_it_listens_on_this_machine_only(host):
    """An address of another machine is refused before the server listens."""
    with pytest.raises(SettingsError, match=r"served on 127\.0\.0\.1 only"):
        PageServer((host, 0), VIEW)


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_the_printed_address_opens_the_page(looked_at, number):
    """
    The printed address opens the page with data of the environment's account; Ctrl-C ends it with
    0.
    """
    with subprocess.Popen(
        [sys.executable, "-m", "neuron_emf", "page"],
        env={**os.environ, **looked_at.variables},
        stdout=subprocess.PIPE,
        text=True,
    ) as process:
        try:
            url, _, token = process.stdout.readline().split()[-1].partition("#token=")
            assert url.startswith("http://127.0.0.1:")
            request = urllib.request.Request(f"{url}now.json", headers={TOKEN_HEADER: token})
            with urllib.request.urlopen(request, timeout=300) as answer:
                assert "neuron-emf" == json.load(answer)["stack_name"]
        finally:
            process.send_signal(number)
        assert 0 == process.wait(20)


def test_the_policy_allows_what_the_page_does(typed, looked_at, hour, monkeypatch):
    """
    The policy allows every call of the page and no other.

    It covers lines of three log groups of this stack, in the partition of the Region.
    """
    code, out, err = typed("page", "--policy", "--region", "cn-north-1", "--stack-name", "blue")
    assert 0 == code
    assert "An adopted ledger bucket is not in this policy." in err
    policy = json.loads(out)
    allowed = {action for statement in policy["Statement"] for action in statement["Action"]}
    view = view_of()
    monkeypatch.setattr("neuron_emf.page.ranges.stack_ledger", ledger_of(hour))
    for answer in view.reads.values():
        answer({})
    view.query({"name": OWN_QUERY})
    done = {name.rpartition(":")[2] for name in looked_at.operations} - {"DescribeStacks"}
    ledger = {"cloudformation:DescribeStacks", "kms:Decrypt", "s3:GetObject", "s3:ListBucket"}
    assert ledger < allowed
    assert {action.partition(":")[2] for action in allowed - ledger} == done
    (lines,) = [
        statement
        for statement in policy["Statement"]
        if "logs:FilterLogEvents" in statement["Action"]
    ]
    prefix = "arn:aws-cn:logs:cn-north-1:*:log-group:"
    assert [
        f"{prefix}{group}:*"
        for group in ("/neuron-emf/records", "/neuron-emf/blue/rollups", "/neuron-emf/blue/explain")
    ] == lines["Resource"]


def test_the_policy_has_the_bucket_of_the_ledger_and_its_key(typed, hour, monkeypatch):
    """
    The policy names an adopted bucket, and admits any key only through S3 and for that bucket.
    """
    monkeypatch.setattr("neuron_emf.page.command.stack_ledger", ledger_of(hour))
    code, out, err = typed("page", "--policy", "--region", "us-gov-west-1")
    assert 0 == code
    assert "" == err
    by_sid = {statement["Sid"]: statement for statement in json.loads(out)["Statement"]}
    bucket = ["arn:aws-us-gov:s3:::ledger", "arn:aws-us-gov:s3:::ledger/*"]
    assert bucket == by_sid["Ledger"]["Resource"]
    key = by_sid["LedgerKey"]
    assert "arn:aws-us-gov:kms:us-gov-west-1:*:key/*" == key["Resource"]
    assert {
        "StringLike": {"kms:ViaService": "s3.*", "kms:EncryptionContext:aws:s3:arn": bucket}
    } == key["Condition"]
