"""
What may happen to a call on its way, as the real SDK sees it, and what was taken all the same.
"""

from __future__ import annotations

import socket

import pytest
from botocore.exceptions import ConnectionClosedError, ReadTimeoutError

from proof.logs import faults
from proof.logs.asking import PLACE, error_in, error_of, messages, put
from proof.logs.forms import ServiceError

PATIENCE_S = 0.4  # longer than a late answer is late
ANSWERED_S = 8.0  # for what is answered: a loaded machine takes its time

# What the client is told. None is success: the SDK takes any body of HTTP 200 for an answer, so
# whether it is one is for its user to find out.
TOLD = {
    faults.THROTTLED: ("ThrottlingException", 400),
    faults.UNAVAILABLE: ("ServiceUnavailableException", 503),
    faults.INTERNAL: ("InternalFailure", 500),
    faults.DENIED: ("AccessDeniedException", 400),
    faults.EXPIRED: ("ExpiredTokenException", 400),
    faults.UNRECOGNIZED: ("UnrecognizedClientException", 400),
    faults.BAD_GATEWAY: ("502", 502),
    faults.GATEWAY_TIMEOUT: ("504", 504),
    faults.RESET: ConnectionClosedError,
    faults.ANSWER_LOST: ConnectionClosedError,
    faults.SIGN_IN: None,
    faults.CUT: None,
    faults.GARBLED: None,
    faults.UNHEARD: ReadTimeoutError,
    faults.NEVER_ANSWERED: ReadTimeoutError,
    faults.LATE: None,
}
TAKEN = {
    *(faults.ANSWER_LOST, faults.GATEWAY_TIMEOUT, faults.NEVER_ANSWERED),
    *(faults.CUT, faults.GARBLED, faults.LATE),
}


@pytest.mark.parametrize("fault", faults.FAULTS)
def test_a_fault_is_what_it_says_to_client_and_service(fault, service, connect):
    """The client is told so much; the service has the events or has not; the next call works."""
    is_silent = fault in (faults.UNHEARD, faults.NEVER_ANSWERED)
    client = connect(service, read_timeout=PATIENCE_S if is_silent else ANSWERED_S)
    service.next_faults.append(fault)
    told = TOLD[fault]
    if told is None:
        put(client, (0, "x"))
    elif isinstance(told, tuple):
        assert told == error_of(client, (0, "x"))
    else:
        with pytest.raises(told):
            put(client, (0, "x"))
    taken = ["x"] if fault in TAKEN else []
    assert taken == messages(service)
    put(connect(service, read_timeout=ANSWERED_S), (0, "y"))
    assert [*taken, "y"] == messages(service)
    assert {fault: 1, "PutLogEvents": 1} == service.happened
    first, second = service.calls
    assert (fault, range(len(taken))) == (first.what, first.taken)
    assert ("PutLogEvents", range(len(taken), len(taken) + 1)) == (second.what, second.taken)


def test_what_is_refused_is_lost_on_the_way_too(service, connect):
    """A fault does not make the service take what it refuses."""
    client = connect(service)
    service.next_faults += [faults.ANSWER_LOST, faults.LATE]
    with pytest.raises(ConnectionClosedError):
        put(client, (0, "late"), (1, "early"))
    assert ("InvalidParameterException", 400) == error_of(client, (0, "late"), (1, "early"))
    assert {faults.ANSWER_LOST: 1, "InvalidParameterException": 1} == service.happened
    assert [] == messages(service)


def test_any_error_may_be_planned(service, client):
    """For either operation; it is counted by its name."""
    error = ServiceError("TooManyRequestsException", "slower", 429)
    service.next_faults.append(error)
    service.next_create_faults.append(error)
    assert ("TooManyRequestsException", 429) == error_of(client, (0, "x"))
    assert ("TooManyRequestsException", 429) == error_in(
        lambda: client.create_log_stream(**{**PLACE, "logStreamName": "i-1"})
    )
    assert {"TooManyRequestsException": 2} == service.happened
    assert {"i-0": []} == service.rules.lines()


def test_chances_are_shares_of_the_calls_they_are_for(service, client):
    """Every call is drawn for; what has no chance does not happen."""
    service.chances = {faults.THROTTLED: 0.5}
    outcomes = [service._next_fault("PutLogEvents") for _ in range(1000)]
    assert 400 < sum(one is not None for one in outcomes) < 600
    assert {faults.THROTTLED} == {one.name for one in outcomes if one}
    assert {None} == {service._next_fault("CreateLogStream") for _ in range(100)}
    service.troubled = frozenset({"CreateLogStream"})
    service.chances = {faults.DENIED: 1.0}
    put(client, (0, "x"))
    assert ("AccessDeniedException", 400) == error_in(
        lambda: client.create_log_stream(**{**PLACE, "logStreamName": "i-1"})
    )
    assert ["x"] == messages(service)


@pytest.mark.parametrize("cut_bytes", [0, 7])
def test_half_a_request_takes_nothing(cut_bytes, service):
    """A client that is killed while it sends: its connection ends, and nobody complains."""
    host, port = service.url.removeprefix("http://").split(":")
    with socket.create_connection((host, int(port)), timeout=9) as connection:
        head = b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\n"
        connection.sendall(head + b"x" * cut_bytes)
        connection.shutdown(socket.SHUT_WR)
        assert b"" == connection.recv(1)
    assert ([], []) == (service.calls, messages(service))


@pytest.mark.parametrize(
    "changes",
    [
        {"Content-Type": "application/json"},
        {"Content-Encoding": "gzip"},
        {"X-Amz-Target": "DynamoDB_20120810.PutItem"},
    ],
)
def test_another_protocol_is_not_spoken(changes, service, connect):
    """What it cannot read it does not guess at."""
    client = connect(service)

    def change(request, **_):
        for name, value in changes.items():
            del request.headers[name]
            request.headers[name] = value

    client.meta.events.register("before-sign.cloudwatch-logs.PutLogEvents", change)
    assert ("SerializationException", 400) == error_of(client, (0, "x"))


def test_other_operations_are_unknown(service, client):
    """The emitter needs two; a third one would be news."""
    assert ("UnknownOperationException", 400) == error_in(
        lambda: client.describe_log_streams(logGroupName=PLACE["logGroupName"])
    )
    assert {"UnknownOperationException": 1} == service.happened
