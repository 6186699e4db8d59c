"""
A kubelet as its socket shows it: pod-resources over HTTP/2, and what its answers look like.

The answers are written field by field, as the interface numbers them; unlike the reader this
writer knows every field that kubelets fill in.
"""

from __future__ import annotations

import socket
import threading
from contextlib import suppress

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import StreamEnded

CORE, DEVICE, OLD_DEVICE = (
    f"aws.amazon.com/{one}" for one in ("neuroncore", "neuron", "neurondevice")
)
EFA = "vpc.amazonaws.com/efa"
PLUGIN, OTHER_DRIVER = "neuron.aws.com", "gpu.nvidia.com"


def varint(value):
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*found, value])


def message(*parts):
    """Fields by number: texts and messages, or whole numbers."""
    found = b""
    for number, value in parts:
        if isinstance(value, int):
            found += varint(number << 3) + varint(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            found += varint(number << 3 | 2) + varint(len(content)) + content
    return found


def devices(resource, *ids, is_new=False):
    """ContainerDevices, with the topology that newer kubelets add."""
    topology = [(3, message((1, message((1, 0)))))] if is_new else []
    return message((1, resource), *((2, one) for one in ids), *topology)


def claim(driver, *names):
    """DynamicResource of one claim, all of whose devices are of *driver*."""
    parts = [
        message((1, message((1, f"{driver}/x={one}"))), (2, driver), (3, "ip-10-0-0-1"), (4, one))
        for one in names
    ]
    return message((2, "claim"), (3, "ml"), *((4, one) for one in parts))


def container(name, *given, claims=(), is_new=False):
    """ContainerResources; from Kubernetes 1.20 on with CPUs and memory."""
    exclusive = [(3, 4), (3, 130), (4, message((1, "memory"), (2, 1 << 30)))] if is_new else []
    return message(
        (1, name), *((2, one) for one in given), *exclusive, *((5, one) for one in claims)
    )


def pod(name, *containers, namespace="ml"):
    """PodResources."""
    return message((1, name), (2, namespace), *((3, one) for one in containers))


def listed(*pods):
    """ListPodResourcesResponse."""
    return message(*((1, one) for one in pods))


TRAINER = pod("trainer-0", container("main", devices(CORE, "0", "1")))


class PlayedKubelet:
    """
    A server of pod-resources on the socket below *root*, until it is closed.

    `answer` is called with each connection, and decides what happens to it.
    """

    def __init__(self, root, answer):
        self.answer = answer
        self.path = root / "var/lib/kubelet/pod-resources/kubelet.sock"
        self.path.parent.mkdir(parents=True, exist_ok=True)
        self.path.unlink(missing_ok=True)
        self._released = threading.Event()
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(self.path))
        self._listener.listen()
        self._threads = [threading.Thread(target=self._run, daemon=True)]
        self._threads[0].start()

    def close(self):
        self._released.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        for thread in self._threads:
            thread.join()

    def hang(self, _channel):
        """Take the call and never say a word."""
        self._released.wait()

    def _run(self):
        with suppress(OSError):
            while True:
                channel, _ = self._listener.accept()
                with channel, suppress(OSError):
                    self.answer(channel)


def answers(body, *, status="0", frames=lambda body: b"\0" + len(body).to_bytes(4, "big") + body):
    """Answer each List with *body* and *status*, as gRPC does."""

    def answer(channel):
        call = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        call.initiate_connection()
        channel.sendall(call.data_to_send())
        while not any(isinstance(one, StreamEnded) for one in _events(call, channel)):
            pass
        call.send_headers(1, [(":status", "200"), ("content-type", "application/grpc")])
        left = frames(body)
        while left:
            room = min(call.local_flow_control_window(1), call.max_outbound_frame_size, len(left))
            if room:
                call.send_data(1, left[:room])
                left = left[room:]
                channel.sendall(call.data_to_send())
            else:
                _events(call, channel)
        if status is not None:
            call.send_headers(1, [("grpc-status", status)], end_stream=True)
        else:
            call.end_stream(1)
        channel.sendall(call.data_to_send())
        _wait_for_end(channel)

    return answer


def says(content):
    """Answer whatever comes with *content*."""

    def answer(channel):
        channel.recv(1 << 16)
        channel.sendall(content)
        _wait_for_end(channel)

    return answer


def _wait_for_end(channel):
    while channel.recv(1 << 16):
        pass


def _events(call, channel):
    received = channel.recv(1 << 16)
    if not received:
        raise ConnectionError
    events = call.receive_data(received)
    channel.sendall(call.data_to_send())
    return events
