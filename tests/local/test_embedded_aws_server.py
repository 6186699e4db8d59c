"""The embedded AWS answers on 127.0.0.1 only, runs a template, and leaves nothing behind."""

from __future__ import annotations

import os
import signal
import socket
import sys

import pytest

from local.embedded_aws import server as server_module
from local.embedded_aws.clients import environment
from local.embedded_aws.deployment import SamCli
from local.embedded_aws.processes import ChildProcess, EmbeddedAwsError, group_members, listening
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


@pytest.mark.proof
def test_an_emulator_that_ends_at_once_is_told_with_its_last_words(tmp_path):
    """Nobody waits half a minute for what has ended."""
    program = script(tmp_path / "ministack", "print('no such module'); raise SystemExit(1)")
    with pytest.raises(EmbeddedAwsError, match="did not answer") as caught:
        EmbeddedAws(program, tmp_path).start()
    assert "no such module" in caught.value.output


@pytest.mark.embedded
def test_a_port_that_is_taken_meanwhile_is_left_alone(programs, tmp_path, monkeypatch):
    """Another one is asked of the kernel."""
    free_port = server_module._free_port
    started = EmbeddedAws(programs[0], tmp_path)
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([taken.getsockname()[1]])
        monkeypatch.setattr(server_module, "_free_port", lambda: next(ports, None) or free_port())
        started.start()
    assert started.alive()
    started.stop()


@pytest.mark.proof
def test_a_stop_while_it_starts_leaves_nothing(tmp_path):
    """The check raises: the child is gone and the exception goes on."""
    program = script(tmp_path / "ministack", "import time; time.sleep(60)")
    started = EmbeddedAws(program, tmp_path)
    seen = []

    def check():
        seen.append(started.pid)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        started.start(check)
    assert [] == group_members(seen[0])
    assert not started.alive()


@pytest.mark.proof
def test_a_stop_while_a_command_runs_stops_the_command(tmp_path):
    """Ctrl-C during a build: the SAM CLI does not go on without us."""
    seen = []

    class Watched(ChildProcess):
        def __init__(self, *arguments, **more):
            super().__init__(*arguments, **more)
            seen.append(self)

    program = script(tmp_path / "sam", "import time; time.sleep(60)")

    def check():
        raise KeyboardInterrupt

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("local.embedded_aws.deployment.ChildProcess", Watched)
        with pytest.raises(KeyboardInterrupt):
            SamCli(program, tmp_path, check).build(tmp_path / "template.yaml", os.environ)
    assert -signal.SIGTERM == seen[0].exit_code()


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
