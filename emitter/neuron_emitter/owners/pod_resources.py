"""
The assignments of the kubelet, read from its pod-resources socket.

It makes one gRPC call, List, without the gRPC library, which takes 27 MiB and seven threads. HTTP/2
comes from h2, loaded at the first call, and a few protobuf fields are read here. The kubelet is not
trusted: bytes, entries and time are limited. Only root can open the socket. From
https://kubernetes.io/docs/concepts/extend-kubernetes/compute-storage-net/device-plugins/,
https://github.com/kubernetes/kubelet/blob/master/pkg/apis/podresources/v1/api.proto,
https://github.com/grpc/grpc/blob/master/doc/PROTOCOL-HTTP2.md and
https://protobuf.dev/programming-guides/encoding/
"""

from __future__ import annotations

import socket
from contextlib import suppress
from typing import TYPE_CHECKING, Final

from neuron_emitter.instance.local_http import TimedSocket
from neuron_emitter.owners.assignments import Allocation, UnknownAssignmentsError
from neuron_emitter.owners.container_names import KUBERNETES_NAME, PodName
from neuron_emitter.owners.kubelet import DRA_DRIVER, KUBELET, RUN_AS_ROOT, PodIds, mark_ended_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

    from neuron_emitter.owners.assignments import Allocations
    from neuron_emitter.owners.places import Places

SOCKET: Final = f"{KUBELET}/pod-resources/kubelet.sock"
POD_RESOURCES_TIMEOUT_S: Final = 3.0
MAX_RESPONSE_BYTES: Final = 16 << 20  # the limit of clients written in Go
MAX_RESPONSE_ENTRIES: Final = 100_000  # messages and texts; 110 pods have about 2,000

_PREFIX_BYTES: Final = 5  # before each message: whether it is compressed, and its length
_FRAME_HEADER_BYTES: Final = 9  # HTTP/2: length (3 bytes), type, flags, stream
_GOAWAY: Final = 7  # a frame type
_HEADERS: Final = (
    (":method", "POST"),
    (":scheme", "http"),
    (":path", "/v1.PodResourcesLister/List"),
    (":authority", "localhost"),
    ("content-type", "application/grpc"),
    ("te", "trailers"),
)
_VARINT: Final = 0  # wire types
_LENGTH_DELIMITED: Final = 2
_FIXED_WIRE_BYTES: Final = {1: 8, 5: 4}
_MALFORMED_RESPONSE: Final = "the answer does not have the form of the interface"

_SOCKET_REMEDY: Final = (
    "Mount the node's folder /var/lib/kubelet/pod-resources, not the socket in it: a kubelet that "
    "restarts makes a new one"
)
_LOOK: Final = "See the kubelet's log. The emitter asks again every 15 s"
_OF_ERROR: Final[dict[type, tuple[str, str]]] = {
    TimeoutError: ("no complete answer in time", _LOOK),
    PermissionError: ("permission denied", RUN_AS_ROOT),
    FileNotFoundError: ("the socket does not exist", _SOCKET_REMEDY),
    ConnectionRefusedError: ("no process is listening", _SOCKET_REMEDY),
    ConnectionError: ("the kubelet closed the connection", _LOOK),
    OSError: ("the socket cannot be opened", _SOCKET_REMEDY),
}
_OF_STATUS: Final = {
    None: ("the call ended without a status", _LOOK),
    b"8": (
        "the kubelet rejected the call: too many calls",
        "Find other programs on this node that list pod resources: it permits 100 calls a second",
    ),
    b"12": (
        "this kubelet does not serve pod resources of version 1",
        "Update the kubelet to Kubernetes 1.20 or later",
    ),
}


class PodResources:
    """The socket of the kubelet whose files are below the root of *places*."""

    name = "the kubelet's pod-resources socket"

    def __init__(self, places: Places, *, within_s: float = POD_RESOURCES_TIMEOUT_S) -> None:
        self._places = places
        self._within_s = within_s

    def read_allocations(self) -> Allocations:
        """
        Return the assignment of each pod that has one.

        Raises:
            UnknownAssignmentsError: If there is no complete answer in time.
        """
        path = str(self._places.root / SOCKET)
        try:
            return mark_ended_pods(allocations_of(list_pods(path, self._within_s)), self._places)
        except ValueError as error:
            raise UnknownAssignmentsError(str(error), _LOOK) from error
        except OSError as error:
            kind = next(kind for kind in type(error).__mro__ if kind in _OF_ERROR)
            reason, remedy = _OF_ERROR[kind]
            reason = f"{reason}: {path}"
            raise UnknownAssignmentsError(reason, remedy) from error


def allocations_of(answer: memoryview) -> list[Allocation]:
    """
    Return the assignment of each pod in *answer*, a ListPodResourcesResponse.

    Raises:
        ValueError: If it is not such a message, or has more than `MAX_RESPONSE_ENTRIES`.
    """
    entries = iter(range(MAX_RESPONSE_ENTRIES))
    found = []
    for number, pod in fields(answer, entries):
        if number != 1:
            continue
        texts = {1: "", 2: ""}
        ids = PodIds()
        for part, value in fields(pod, entries):
            if part in texts:
                texts[part] = _text(value)
            elif part == 3:
                _gather_container(ids, value, entries)
        name = PodName(texts[2], texts[1])
        if not (KUBERNETES_NAME.fullmatch(name.namespace) and KUBERNETES_NAME.fullmatch(name.pod)):
            msg = "it contains an invalid pod name"
            raise ValueError(msg)
        if ids.containers:
            found.append(ids.allocation(name))
    return found


def _gather_container(ids: PodIds, message: memoryview, entries: Iterator[int]) -> None:
    container = ""
    # the name comes first in the output of serializers
    for number, value in fields(message, entries):
        if number == 1:
            container = _text(value)
        elif number == 2:
            texts = [(part, _text(text)) for part, text in fields(value, entries) if part in (1, 2)]
            resource = next((text for part, text in texts if part == 1), "")
            ids.gather_resource(container, resource, (text for part, text in texts if part == 2))
        elif number == 5:
            for part, claim in fields(value, entries):
                if part == 4:
                    of_claim = dict(fields(claim, entries))
                    if _text(of_claim.get(2)) == DRA_DRIVER:
                        ids.gather_devices(container, [_text(of_claim.get(4))])


def fields(message: memoryview, entries: Iterator[int]) -> Iterator[tuple[int, memoryview]]:
    """
    Yield number and content of the texts and messages in *message*, at most as many as *entries*.

    Raises:
        ValueError: If it is not a protobuf message, or has more.
    """
    at = 0
    while at < len(message):
        key, at = _varint(message, at)
        kind = key & 7
        if kind == _LENGTH_DELIMITED:
            length, begin = _varint(message, at)
            at = begin + length
            if next(entries, None) is None:
                msg = f"the answer has more than {MAX_RESPONSE_ENTRIES:,} entries"
                raise ValueError(msg)
            if at <= len(message):
                yield key >> 3, message[begin:at]
        elif kind == _VARINT:
            _, at = _varint(message, at)
        else:
            at += _FIXED_WIRE_BYTES.get(kind, len(message))
        if at > len(message):
            raise ValueError(_MALFORMED_RESPONSE)


def _varint(message: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift, byte in enumerate(message[at : at + 10]):
        value |= (byte & 0x7F) << 7 * shift
        if byte < 0x80:
            return value, at + shift + 1
    raise ValueError(_MALFORMED_RESPONSE)


def _text(value: memoryview | None) -> str:
    return "" if value is None else str(value, "utf-8", "replace")


def list_pods(path: str, within_s: float) -> memoryview:
    """
    Return the message with which List at *path* answers.

    Raises:
        OSError: If there is no answer, or none in time.
        ValueError: If the answer is not a message, or is too large.
    """
    from h2 import config, connection, events, exceptions  # noqa: PLC0415 - 16 MB, for machines with a kubelet

    ends = (events.StreamEnded, events.StreamReset)
    # A status message may end with a space, for which h2 would reject the whole answer.
    call = connection.H2Connection(config.H2Configuration(validate_inbound_headers=False))
    call.initiate_connection()
    call.send_headers(1, _HEADERS)
    call.send_data(1, bytes(_PREFIX_BYTES), end_stream=True)
    body = bytearray()
    said: dict[bytes, bytes] = {}
    has_ended = False
    with socket.socket(socket.AF_UNIX) as plain:
        plain.settimeout(within_s)
        plain.connect(path)
        with TimedSocket(plain, within_s) as channel:
            piece = bytearray(64 << 10)
            received = bytearray()
            while not has_ended:
                # the server may have closed after a complete answer
                with suppress(BrokenPipeError):
                    channel.sendall(call.data_to_send())
                count = channel.recv_into(piece)
                if not count:
                    raise ConnectionResetError
                received += piece[:count]
                try:
                    happened = call.receive_data(_take_frames(received))
                except exceptions.ProtocolError as error:
                    raise ValueError(_MALFORMED_RESPONSE) from error
                for event in happened:
                    if isinstance(event, events.DataReceived):
                        body += event.data
                        call.acknowledge_received_data(event.flow_controlled_length, 1)
                    elif isinstance(event, (events.ResponseReceived, events.TrailersReceived)):
                        said |= dict(event.headers)
                    has_ended |= isinstance(event, ends)
                if len(body) > MAX_RESPONSE_BYTES:
                    msg = f"the answer is larger than {MAX_RESPONSE_BYTES >> 20} MiB"
                    raise ValueError(msg)
    return _message(body, said.get(b"grpc-status"))


def _take_frames(received: bytearray) -> bytes:
    """
    Take the complete frames from *received*, and omit GOAWAY.

    A server that stops finishes its running calls, but h2 rejects each frame after a GOAWAY.
    """
    frames = bytearray()
    while len(received) >= _FRAME_HEADER_BYTES:
        end = _FRAME_HEADER_BYTES + int.from_bytes(received[:3], "big")
        if end > len(received):
            break
        if received[3] != _GOAWAY:
            frames += received[:end]
        del received[:end]
    return bytes(frames)


def _message(body: bytearray, status: bytes | None) -> memoryview:
    if status != b"0":
        raise UnknownAssignmentsError(*_OF_STATUS.get(status, ("the call failed", _LOOK)))
    if body[:1] == b"\1":
        msg = "the answer is compressed, although the emitter accepts no compression"
        raise ValueError(msg)
    if body[:1] != b"\0" or int.from_bytes(body[1:5], "big") != len(body) - _PREFIX_BYTES:
        raise ValueError(_MALFORMED_RESPONSE)
    return memoryview(body)[_PREFIX_BYTES:]
