"""The embedded AWS answers on 127.0.0.1 only, runs a template, and leaves nothing behind."""

from __future__ import annotations

import os
import sys

import pytest

from local.embedded_aws import server as server_module
from local.embedded_aws.clients import environment
from local.embedded_aws.deployment import SamCli
from local.embedded_aws.processes import EmbeddedAwsError, group_members, listening
from local.embedded_aws.server import EmbeddedAws

LINUX = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="asks Linux's kernel")


@pytest.fixture(scope="module")
def aws(programs, tmp_path_factory):
    """One emulator for all tests."""
    started = EmbeddedAws(programs[0], tmp_path_factory.mktemp("aws"))
    started.start()
    yield started
    started.stop()


@pytest.mark.embedded
@LINUX
def test_nobody_else_can_reach_it(aws):
    """Every socket that it or its workers listen on is on 127.0.0.1."""
    found = listening(group_members(aws.pid))
    assert {"127.0.0.1"} == {address for address, _ in found}


@pytest.mark.embedded
def test_a_template_that_is_refused_says_so(aws, programs, tmp_path):
    """One sentence, and the SAM CLI's own words behind it."""
    template = tmp_path / "template.yaml"
    template.write_text("Resources: {A: {Type: AWS::No::Such}}\n", encoding="utf-8")
    sam = SamCli(programs[1], tmp_path, lambda: None)
    with pytest.raises(EmbeddedAwsError, match="sam deploy failed with exit code 1") as caught:
        sam.deploy(template, "refused", {}, aws)
    assert "AWS::No::Such" in caught.value.output


@pytest.mark.embedded
@LINUX
def test_stopping_leaves_no_process(programs, tmp_path):
    """And nobody answers on its port any more."""
    started = EmbeddedAws(programs[0], tmp_path)
    started.start()
    pid = started.pid
    assert started.alive()
    started.stop()
    started.stop()
    assert not started.alive()
    assert [] == group_members(pid)


def script(path, code):
    """A command of ours in place of a real one."""
    path.write_text(f"#!{sys.executable}\n{code}\n", encoding="utf-8")
    path.chmod(0o755)
    return path


@pytest.mark.proof
@LINUX
@pytest.mark.parametrize("address", ["0.0.0.0", "::"])
def test_an_emulator_that_others_can_reach_is_stopped(tmp_path, monkeypatch, address):
    """Its own setting may be forgotten or renamed: what counts is where it listens."""
    family = "AF_INET6" if ":" in address else "AF_INET"
    code = (
        "import socket, time\n"
        f"server = socket.socket(socket.{family}); server.bind(({address!r}, 0)); server.listen()\n"
        "time.sleep(60)"
    )
    started = EmbeddedAws(script(tmp_path / "ministack", code), tmp_path)

    def answers(_url):
        return bool(listening(group_members(started.pid)))

    monkeypatch.setattr(server_module, "_answers", answers)
    with pytest.raises(EmbeddedAwsError, match=r"expected 127\.0\.0\.1 only: it was stopped"):
        started.start()
    assert not started.alive()


def test_children_see_no_account(monkeypatch):
    """
    The user's credentials, profile, region and endpoint stay with the user; a package index of the
    user's goes on to pip.
    """
    monkeypatch.setenv("PIP_INDEX_URL", "http://127.0.0.1:1/simple")
    for name in ("AWS_PROFILE", "AWS_SESSION_TOKEN", "AWS_ENDPOINT_URL_LOGS", "SAM_CLI_X"):
        monkeypatch.setenv(name, "mine")
    monkeypatch.setenv("NO_PROXY", "example.com")
    found = environment("http://127.0.0.1:4566")
    assert "mine" not in found.values()
    assert "http://127.0.0.1:4566" == found["AWS_ENDPOINT_URL"]
    assert "example.com,127.0.0.1,localhost" == found["NO_PROXY"]
    assert os.devnull == found["AWS_SHARED_CREDENTIALS_FILE"]
    assert "AWS_ENDPOINT_URL" not in environment()
    assert "http://127.0.0.1:1/simple" == found["PIP_INDEX_URL"]
