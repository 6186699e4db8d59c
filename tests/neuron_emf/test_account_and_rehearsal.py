"""Which stack is looked at, and that a rehearsal is never an account."""

from __future__ import annotations

import http.server
import json
import threading
from contextlib import contextmanager

import pytest
from botocore.exceptions import ClientError, NoCredentialsError

from emitter.errors import SettingsError, SourceError
from neuron_emf import account as accounts
from neuron_emf.account import AccountSettings, account, is_refusal, refusal

RIGHT = {
    "endpoint_url": "http://127.0.0.1:4566",
    "region": "us-east-1",
    "log_group": "/neuron-emf/records",
    "rollups_log_group": "/neuron-emf/neuron-emf/rollups",
    "stack_name": "neuron-emf",
}


@contextmanager
def page(answer: bytes):
    """What answers where the rehearsal's page would; gives its address."""

    class Handler(http.server.BaseHTTPRequestHandler):
        def do_GET(self):
            self.send_response(200)
            self.end_headers()
            self.wfile.write(answer)

        def log_message(self, *_):
            pass

    with http.server.HTTPServer(("127.0.0.1", 0), Handler) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,), daemon=True)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}/rehearsal.json"
        server.shutdown()
        thread.join()


def test_the_rollups_are_where_the_stack_of_that_name_puts_them():
    """A name of their own wins."""
    assert (
        "/neuron-emf/blue/rollups" == account(AccountSettings(stack_name="blue")).rollups_log_group
    )
    named = AccountSettings(stack_name="blue", rollups_log_group="/other")
    assert "/other" == account(named).rollups_log_group


def test_the_default_names_are_those_of_the_template(repository):
    """So that a stack that was deployed with defaults is found without a flag."""
    text = (repository / "template.yaml").read_text("utf-8")
    assert "LogGroupName: !Sub /neuron-emf/${AWS::StackName}/rollups" in text
    assert f"Default: {AccountSettings().log_group}\n" in text
    samconfig = (repository / "samconfig.toml").read_text("utf-8")
    assert f'stack_name = "{AccountSettings().stack_name}"' in samconfig


def test_a_rehearsal_says_where_it_is(monkeypatch):
    """Its clients reach that address with credentials that are none, whatever the user has."""
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "real")
    monkeypatch.setenv("AWS_ENDPOINT_URL", "https://logs.example.com")
    monkeypatch.setenv("HTTP_PROXY", "http://proxy.example.com:3128")
    with page(json.dumps(RIGHT).encode()) as address:
        monkeypatch.setattr(accounts, "REHEARSAL", address)
        found = account(AccountSettings(rehearsal=True))
    assert found.is_rehearsal
    assert RIGHT["rollups_log_group"] == found.rollups_log_group
    client = found.client("logs")
    assert RIGHT["endpoint_url"] == client.meta.endpoint_url
    assert "rehearsal" == client._request_signer._credentials.access_key
    assert {} == client._endpoint.http_session._proxy_config._proxies


@pytest.mark.parametrize(
    "answer",
    [
        json.dumps({**RIGHT, "endpoint_url": "https://logs.us-east-1.amazonaws.com"}).encode(),
        json.dumps({**RIGHT, "endpoint_url": "http://localhost:4566"}).encode(),
        json.dumps({name: RIGHT[name] for name in RIGHT if name != "region"}).encode(),
        b"[]",
        b"<html>",
        b"\xff",
    ],
    ids=["an account", "a name", "no region", "a list", "no JSON", "no text"],
)
def test_what_is_no_rehearsal_is_refused(monkeypatch, answer):
    """Also an answer that would lead to an account: it may be anybody's who listens there."""
    with page(answer) as address:
        monkeypatch.setattr(accounts, "REHEARSAL", address)
        with pytest.raises(SourceError, match="make demo"):
            account(AccountSettings(rehearsal=True))


def test_no_rehearsal_is_said(monkeypatch):
    """With what to do."""
    with page(b"") as address:
        pass
    monkeypatch.setattr(accounts, "REHEARSAL", address)
    with pytest.raises(SourceError, match="Run `make demo`"):
        account(AccountSettings(rehearsal=True))


def test_no_region_is_wrong_use(monkeypatch, tmp_path):
    """And the sentence names the flag."""
    for name in ("AWS_DEFAULT_REGION", "AWS_REGION", "AWS_PROFILE"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match="--region"):
        account(AccountSettings()).client("logs")


def test_a_profile_that_is_not_there_is_said(monkeypatch, tmp_path):
    """With its name, and where it would have to be."""
    monkeypatch.setenv("AWS_PROFILE", "ml-platform")
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    with pytest.raises(SettingsError, match=r"ml-platform.*AWS_PROFILE"):
        account(AccountSettings(region="us-west-2")).client("logs")


def test_a_refusal_names_the_action_and_what_to_do():
    """As AWS calls it, so that it can be put into a policy."""
    error = ClientError(
        {"Error": {"Code": "AccessDeniedException", "Message": "not\nallowed"}}, "FilterLogEvents"
    )
    said = str(refusal(error, "logs:FilterLogEvents"))
    assert "logs:FilterLogEvents" in said
    assert "AccessDeniedException" in said
    assert "\n" not in said
    assert "Allow this action" in said


def test_what_the_sdk_raises_is_a_refusal():
    """What Python raises is not: it is a fault of ours, and must be seen as one."""
    assert is_refusal(NoCredentialsError())
    assert not is_refusal(ValueError())
