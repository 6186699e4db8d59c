"""The loopback CloudWatch Logs as a place: it is there, it is gone, it has several doors."""

from __future__ import annotations

import threading

import pytest
from botocore.exceptions import BotoCoreError, EndpointConnectionError

from proof.logs import faults
from proof.logs.asking import messages, put


def test_a_service_that_is_gone_refuses_connections_until_it_is_back(service, client):
    """At the same address, with everything it had."""
    put(client, (0, "before"))
    service.vanish()
    assert not service.is_there
    with pytest.raises(BotoCoreError):  # the connection that was open
        put(client, (0, "meanwhile"))
    with pytest.raises(EndpointConnectionError):
        put(client, (0, "meanwhile"))
    service.come_back()
    put(client, (0, "after"))
    assert ["before", "after"] == messages(service)


def test_who_waits_for_an_answer_hears_the_service_go(service, client):
    """Nobody is left hanging by a service that is gone."""
    service.next_faults.append(faults.UNHEARD)
    ended = []

    def ask():
        with pytest.raises(BotoCoreError):
            put(client, (0, "x"))
        ended.append(True)

    asking = threading.Thread(target=ask)
    asking.start()
    while not service.calls:
        assert asking.is_alive()
    service.vanish()
    asking.join(9)
    assert [True] == ended


def test_calls_at_once_are_taken_one_after_the_other(service, connect):
    """The record's places are of one call each, whoever came in between."""
    clients = [connect(service) for _ in range(4)]

    def ask(client, name):
        for number in range(5):
            put(client, (0, f"{name} {number}"), (0, f"{name} {number}"))

    asking = [threading.Thread(target=ask, args=one) for one in zip(clients, "abcd", strict=True)]
    for thread in asking:
        thread.start()
    for thread in asking:
        thread.join()
    found = messages(service)
    assert 20 == len(service.calls)
    for call in service.calls:
        first, second = (found[place] for place in call.taken)
        assert first == second
    assert 20 == len(set(found))
