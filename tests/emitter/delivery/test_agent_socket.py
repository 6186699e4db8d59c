"""The CloudWatch agent's socket: what counts as delivered, and what a lost connection costs."""

from __future__ import annotations

import json
import socket
import threading

import pytest
from listening_agent import Agent

from emitter.delivery import agent_socket
from emitter.delivery.agent_socket import AgentSocket
from emitter.delivery.destination import Delivered, Invalid, Retry
from emitter.errors import SettingsError
from emitter.spool.records import SpooledRecord
from proof.emitter_process import wait_until

GROUP = "/neuron-emf/records"
STREAM = "i-0123456789abcdef0"
NOW_MS = 1_795_000_000_000
PATIENCE_S = 8.0


def batch_of(*texts):
    """Records that say which they are."""
    return [
        SpooledRecord(i, "019aa3c5d2f04f1e2d3c", i, NOW_MS, f'{{"Text":"{text}"}}')
        for i, text in enumerate(texts, 1)
    ]


def texts_of(agent):
    """Which of them the agent has."""
    return [json.loads(line)["Text"] for line in agent.lines]


@pytest.fixture
def agent():
    """A listening agent."""
    started = Agent()
    yield started
    started.end()


@pytest.fixture
def destination(agent):
    """The destination under test."""
    opened = AgentSocket(agent.endpoint, group=GROUP, stream=STREAM)
    yield opened
    opened.close()


def test_lines_arrive_whole_and_in_order(agent, destination):
    """Newline after each, all through one connection, each with its log group and stream."""
    assert Delivered() == destination.send(batch_of("a", "b"))
    assert Delivered() == destination.send(batch_of("c"))
    wait_until(lambda: texts_of(agent) == ["a", "b", "c"])
    assert 1 == agent.connections
    address = json.loads(agent.lines[0])["_aws"]
    assert (GROUP, STREAM) == (address["LogGroupName"], address["LogStreamName"])


def test_a_large_batch_arrives_whole(agent, destination):
    """More than the kernel's buffers hold."""
    texts = [f"{number:06d}" + "x" * 10_000 for number in range(600)]
    assert Delivered() == destination.send(batch_of(*texts))
    wait_until(lambda: texts_of(agent) == texts)


def test_nobody_listening_is_a_retry():
    """The sentence says where, and what to do."""
    with socket.socket() as unused:
        unused.bind(("127.0.0.1", 0))
        endpoint = f"tcp://127.0.0.1:{unused.getsockname()[1]}"
        outcome = AgentSocket(endpoint, group=GROUP, stream=STREAM).send(batch_of("a"))
    assert "agent_unreachable" == outcome.reason
    for words in (endpoint, '"emf": {}', "--agent-endpoint", "refused"):
        assert words in outcome.sentence


def test_a_name_that_nobody_has_is_a_retry():
    """A container's name may be known in a minute."""
    outcome = AgentSocket("tcp://agent.invalid:25888", group=GROUP, stream=STREAM).send(
        batch_of("a")
    )
    assert "agent_unreachable" == outcome.reason


@pytest.mark.parametrize("ending", ["hang_up", "reset"])
def test_an_agent_that_was_restarted_is_connected_to_again(agent, destination, ending):
    """
    A connection that was closed since the last batch is found out before the next one is sent.
    """
    destination.send(batch_of("a"))
    wait_until(lambda: agent.lines)
    agent.orders.put(getattr(agent, ending))
    wait_until(lambda: agent_socket._is_closed(destination._socket))
    assert Delivered() == destination.send(batch_of("b"))
    wait_until(lambda: texts_of(agent) == ["a", "b"])
    assert 2 == agent.connections


@pytest.mark.parametrize("ending", ["hang_up", "reset"])
def test_an_agent_that_ends_while_it_is_sent_to_may_have_taken_lines(agent, destination, ending):
    """Which ones nobody knows: the batch is sent again, and may arrive twice."""
    agent.is_reading = False
    assert Delivered() == destination.send(batch_of("a"))
    outcomes = []
    sending = threading.Thread(target=lambda: outcomes.append(destination.send(huge_batch())))
    sending.start()
    wait_until(lambda: agent_socket._unacknowledged_bytes(destination._socket))
    agent.orders.put(getattr(agent, ending))
    sending.join()
    (outcome,) = outcomes
    assert isinstance(outcome, Retry)
    assert "agent_closed" == outcome.reason


def huge_batch():
    """More than all buffers between here and a reader that does not read."""
    return batch_of(*["x" * 100_000] * 300)


def test_an_agent_that_reads_nothing_has_taken_nothing(agent, destination, monkeypatch):
    """What waits in the kernel is not delivered: a stuck agent is no place to leave records."""
    monkeypatch.setattr(agent_socket, "SEND_TIMEOUT_S", 0.2)
    agent.is_reading = False
    outcome = destination.send(huge_batch())
    assert "agent_stuck" == outcome.reason
    assert "Restart" in outcome.sentence


def test_bytes_nobody_acknowledged_are_waited_for(agent, destination, monkeypatch):
    """Until the other side's kernel has them all, in steps, and no longer than a time."""
    left = [3, 2, 1, 0]
    monkeypatch.setattr(agent_socket, "_unacknowledged_bytes", lambda _: left.pop(0))
    assert Delivered() == destination.send(batch_of("a"))
    assert [] == left
    monkeypatch.setattr(agent_socket, "_unacknowledged_bytes", lambda _: 1)
    monkeypatch.setattr(agent_socket, "SEND_TIMEOUT_S", 0.05)
    assert "agent_stuck" == destination.send(batch_of("b")).reason
    wait_until(lambda: texts_of(agent) == ["a", "b"])  # ambiguous indeed


def test_what_an_agent_says_is_passed_over(agent, destination):
    """It never says anything; another program at the port might."""
    destination.send(batch_of("a"))
    wait_until(lambda: agent.connections)
    agent.orders.put(lambda: agent.say(b"HTTP/1.1 400 Bad Request\r\n"))
    wait_until(agent.orders.empty)
    assert Delivered() == destination.send(batch_of("b"))
    assert 1 == agent.connections


def test_a_line_that_is_no_object_is_invalid(destination):
    """So that it is found by halving and quarantined, instead of dropped unseen by the agent."""
    record = SpooledRecord(1, "019aa3c5d2f04f1e2d3c", 1, NOW_MS, "secret")
    outcome = destination.send([*batch_of("a"), record])
    assert isinstance(outcome, Invalid)
    assert "secret" not in outcome.reason


def test_an_instance_that_was_renamed_has_another_stream(agent, destination):
    """From the next batch on; an impossible name changes nothing."""
    destination.rename("i-known")
    with pytest.raises(SettingsError):
        destination.rename("a*")
    destination.send(batch_of("a"))
    wait_until(lambda: agent.lines)
    assert "i-known" == json.loads(agent.lines[0])["_aws"]["LogStreamName"]
