"""
What systemd is told: datagrams as its protocol has them, heartbeats by whoever turns, no failure.
"""

from __future__ import annotations

import socket

import pytest
from hypothesis import given
from hypothesis import strategies as st
from notification_socket import heard, listening, variables

from emitter.run import supervisor as module
from emitter.run.supervisor import Supervisor

__all__ = ["listening"]  # a fixture


class Clock:
    """A monotonic clock that only the test moves."""

    now_s = 1000.0

    def __call__(self):
        return self.now_s


def test_each_message_is_one_datagram(listening):
    """State first, then what people read; nothing ends with a newline."""
    told = Supervisor(variables(listening))
    told.ready("cluster blue: 0 records")
    told.status("all is well")
    told.stopping("delivering the remaining records")
    assert [
        ["READY=1", "STATUS=cluster blue: 0 records"],
        ["STATUS=all is well"],
        ["STOPPING=1", "STATUS=delivering the remaining records"],
    ] == heard(listening)


def test_a_reload_says_when_it_began(listening):
    """systemd knows by the monotonic clock which READY=1 ends it."""
    Supervisor(variables(listening)).reloading()
    ((state, moment),) = heard(listening)
    assert "RELOADING=1" == state
    assert moment.removeprefix("MONOTONIC_USEC=").isdigit()


def test_a_socket_may_be_a_file(tmp_path, monkeypatch):
    """As systemd has it at /run/systemd/notify."""
    monkeypatch.chdir(tmp_path)
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(0)
        server.bind("s")
        path = tmp_path / "s"
        if len(str(path)) > 107:
            pytest.skip(f"{path} is too long for a socket")
        Supervisor({"NOTIFY_SOCKET": str(path)}).status("here")
        assert [["STATUS=here"]] == heard(server)


def test_the_variables_are_not_handed_on(listening):
    """neuron-monitor is not the service: what it might say would be believed."""
    environ = variables(listening, WATCHDOG_USEC="1000000", WATCHDOG_PID="1", HOME="/home/x")
    Supervisor(environ)
    assert {"HOME": "/home/x"} == environ


@given(st.floats(0.01, 100), st.lists(st.floats(0, 30), max_size=30))
def test_no_beat_is_late_for_who_turns_in_time(period_s, waits_s):
    """Two beats are never further apart than a quarter of the period and one turn."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(0)
        server.bind("")  # an abstract name of the kernel's choice
        clock = Clock()
        period_us = str(int(period_s * 1e6))
        told = Supervisor(variables(server, WATCHDOG_USEC=period_us), monotonic=clock)
        beaten_s = None
        for wait_s in [0, *waits_s]:
            clock.now_s += wait_s
            told.beat()
            if heard(server):
                assert beaten_s is None or clock.now_s - beaten_s >= period_s / 4 - 1e-3
                beaten_s = clock.now_s
            assert beaten_s is not None
            assert clock.now_s - beaten_s <= period_s / 4


@pytest.mark.parametrize(
    "watchdog",
    [
        {},
        {"WATCHDOG_USEC": ""},
        {"WATCHDOG_USEC": "0"},
        {"WATCHDOG_USEC": "-5"},
        {"WATCHDOG_USEC": "1e6"},
        {"WATCHDOG_USEC": "٣"},
        {"WATCHDOG_USEC": "1000000", "WATCHDOG_PID": "1"},
    ],
    ids=["unset", "empty", "zero", "negative", "float", "foreign digit", "another process"],
)
def test_nobody_is_beaten_for_who_does_not_count(watchdog, listening):
    """No watchdog, one that makes no sense, or that of another process."""
    Supervisor(variables(listening, **watchdog)).beat()
    assert [] == heard(listening)


@pytest.mark.parametrize(
    "address",
    ["", "@", "relative", "vsock:2:1", "/no/such/socket", "@nobody-listens", "/a\0b", "/" * 300],
    ids=["empty", "no name", "relative", "vsock", "no file", "nobody", "nul", "too long"],
)
def test_no_failure_to_tell_is_an_error(address, caplog):
    """Whoever must know that we live acts when it hears nothing; it is said once at most."""
    told = Supervisor({"NOTIFY_SOCKET": address, "WATCHDOG_USEC": "1"})
    told.ready("x")
    told.beat()
    told.reloading()
    told.stopping("x")
    assert len(caplog.records) <= 1


def test_a_beat_that_was_not_taken_is_sent_again(listening, monkeypatch):
    """At the next turn, not a quarter of a period later."""
    told = Supervisor(variables(listening, WATCHDOG_USEC="8000000"), monotonic=Clock())
    with monkeypatch.context() as patched:
        patched.setattr(module.socket.socket, "send", _refuse)
        told.beat()
    assert [] == heard(listening)
    told.beat()
    assert [["WATCHDOG=1"]] == heard(listening)


def _refuse(_socket, _bytes):
    raise BlockingIOError


@given(st.text(max_size=700))
def test_a_status_is_one_line(sentence):
    """A newline in it would be another assignment, such as MAINPID=1."""
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as server:
        server.settimeout(0)
        server.bind("")
        Supervisor(variables(server)).status(sentence)
        for assignments in heard(server):
            (status,) = assignments
            assert status.startswith("STATUS=")
            assert len(status) <= 507
