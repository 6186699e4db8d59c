"""
A fake machine as its `/proc` shows it, and a fake kubelet.

Control groups have each runtime's format; IDs are invented, and files that the emitter does not
read are missing. The kubelet's answers are encoded field by field. Unlike the emitter's reader,
this writer knows every field that kubelets set.
"""

from __future__ import annotations

import json
import shutil
import socket
import threading
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.events import DataReceived, RequestReceived, StreamEnded

from neuron_emitter.owners.naming import Naming
from neuron_emitter.owners.places import Places
from neuron_emitter.owners.process import open_process
from tests.neuron_emitter.neuron_reports import counters, memory, report, runtime

if TYPE_CHECKING:
    from pathlib import Path

CONTAINER = "4f0c1a5e6b7d8c9fa0b1c2d3e4f5061728394a5b6c7d8e9f0a1b2c3d4e5f6071"
SHORT_CONTAINER = f"container:{CONTAINER[:12]}"
OTHER_CONTAINER = "b" * 64
POD_ID = "3f2504e0-4f89-41d3-9a0c-0305e82c3301"
LLAMA_LOG = f"var/log/pods/search_llama-0_{POD_ID}/server/0.log"
POD_IN_SLICES = POD_ID.replace("-", "_")
STATIC_POD = "0123456789abcdef0123456789abcdef"
TASK_ID = "9781c2480edd4cdb9a93f63cb662a5d3"
METADATA_ID = "6ad1b1a5-5b3c-4d5e-8f90-123456789abc"

V1_CONTROLLERS = (
    *("pids", "hugetlb", "net_cls,net_prio", "perf_event", "cpuset", "freezer", "memory"),
    *("cpu,cpuacct", "devices", "blkio", "name=systemd"),
)


def v1(path, *, only=V1_CONTROLLERS, others="/"):
    """Return the eleven hierarchies of Amazon Linux 2, with *path* in those of *only*."""
    lines = [
        f"{len(V1_CONTROLLERS) - place}:{name}:{path if name in only else others}"
        for place, name in enumerate(V1_CONTROLLERS)
    ]
    return "\n".join(lines) + "\n"


def v2(path):
    """Return the single hierarchy of version 2."""
    return f"0::{path}\n"


ECS_V1 = v1(f"/ecs/{TASK_ID}/{CONTAINER}")
ECS_V2 = v2(f"/ecstasks.slice/ecstasks-{TASK_ID}.slice/docker-{CONTAINER}.scope")
EKS_SYSTEMD_V2 = v2(
    f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{POD_IN_SLICES}.slice"
    f"/cri-containerd-{CONTAINER}.scope"
)
EKS_GUARANTEED_V2 = v2(
    f"/kubepods.slice/kubepods-pod{POD_IN_SLICES}.slice/cri-containerd-{CONTAINER}.scope"
)
EKS_CGROUPFS_V1 = v1(f"/kubepods/besteffort/pod{POD_ID}/{CONTAINER}")
EKS_MIXED_V1 = v1(
    f"/system.slice/containerd.service/kubepods-burstable-pod{POD_IN_SLICES}.slice"
    f":cri-containerd:{CONTAINER}"
)
EKS_SEEN_FROM_A_POD = v2(
    f"/../../../kubepods-besteffort.slice/kubepods-besteffort-pod{POD_IN_SLICES}.slice"
    f"/cri-containerd-{CONTAINER}.scope"
)
EKS_SEEN_FROM_THE_SAME_POD = v2(f"/../cri-containerd-{CONTAINER}.scope")
CRI_O = v2(
    f"/kubepods.slice/kubepods-besteffort.slice/kubepods-besteffort-pod{POD_IN_SLICES}.slice"
    f"/crio-{CONTAINER}.scope/container"
)
STATIC_V2 = v2(
    f"/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod{STATIC_POD}.slice"
    f"/cri-containerd-{CONTAINER}.scope"
)
DOCKER_V1 = v1(f"/docker/{CONTAINER}")
DOCKER_V2 = v2(f"/system.slice/docker-{CONTAINER}.scope")
PODMAN_V2 = v2(f"/machine.slice/libpod-{CONTAINER}.scope/container")
ROOTLESS = v2(
    f"/user.slice/user-1000.slice/user@1000.service/user.slice/libpod-{CONTAINER}.scope/container"
)
SLURM_V1 = v1(
    "/slurm/uid_1000/job_4711/step_0/task_0",
    only=("freezer", "memory", "cpuset", "devices"),
    others="/system.slice/slurmd.service",
)
SLURM_V1_OF_A_NODE = v1("/slurm_node-3/uid_1000/job_4711/step_batch", only=("freezer", "memory"))
# Slurm 25.11, and 26.05.2 with CgroupJobIdPaths=yes.
SLURM_V2 = v2("/system.slice/slurmstepd.scope/job_4711/step_0/user/task_0")
SLURM_V2_OF_A_NODE = v2("/system.slice/node-3_slurmstepd.scope/job_4711/step_batch/user/task_0")
# Slurm 26.05: a job's group is its SLUID.
MACHINE_SLUID = "s5K1KKYAYG5D00"
SLURM_26_05 = v2(f"/system.slice/slurmstepd.scope/{MACHINE_SLUID}/step_0/user/task_0")
SLURM_26_05_OF_A_NODE = v2(
    f"/system.slice/node-3_slurmstepd.scope/{MACHINE_SLUID}/step_batch/user/task_0"
)
SLURM_26_05_FROM_A_GROUP = v2(f"/../../../{MACHINE_SLUID}/step_0/user/task_0")
SLURM_WITHOUT_GROUPS = v2("/system.slice/slurmd.service")
UNIT_GROUPS = v2("/system.slice/llama.service")
UNIT_IN_SLICES = v2("/system.slice/system-llama.slice/llama@0.service/worker")
USER_UNIT = v2("/user.slice/user-1000.slice/user@1000.service/app.slice/notebook.service")
SESSION = v2("/user.slice/user-1000.slice/session-12.scope")
BARE = v2("/")


class FakeMachine:
    """A root folder with a `/proc`, and services at addresses that a test may set."""

    def __init__(self, root: Path, nowhere: str) -> None:
        self.root = root
        self.proc = root / "proc"
        self.urls: dict[str, Any] = {"ecs_agent_url": nowhere, "ecs_metadata_url": nowhere}
        self.process(1, command="systemd", groups=v2("/init.scope"), user_id=0)
        self.file("etc/passwd", "root:x:0:0::/root:/bin/sh\nada:x:1000:1000::/home/ada:/bin/sh\n")

    @property
    def places(self) -> Places:
        """Return the places of this machine."""
        handed_over = self.root / "run/neuron-emf/reservations.json"
        return Places(self.proc, self.root, handed_over=handed_over, **self.urls)

    def file(self, path: str, content: object) -> None:
        """Write a file below the root; an object is written as JSON."""
        file = self.root / path
        file.parent.mkdir(parents=True, exist_ok=True)
        if not isinstance(content, (bytes, str)):
            content = json.dumps(content)
        file.write_bytes(content.encode() if isinstance(content, str) else content)

    def process(
        self, pid=42, *, groups=BARE, command="python3", user_id=1000, ticks=1000, variables=None
    ):
        """Start a process, in place of an earlier process with this PID; return the PID."""
        self.end(pid)
        if isinstance(command, str):
            command = command.encode()
        rest = " ".join(["S", *(["0"] * 18), str(ticks), *(["0"] * 30)])
        environ = b"".join(
            variable if isinstance(variable, bytes) else variable.encode() + b"\0"
            for variable in (variables or ["PATH=/bin", "HOME=/"])
        )
        self.file(f"proc/{pid}/stat", b"%d (%s) %s\n" % (pid, command, rest.encode()))
        self.file(f"proc/{pid}/status", f"Name:\tx\nUid:\t{user_id}\t0\t0\t0\nGid:\t1\t1\t1\t1\n")
        self.file(f"proc/{pid}/cgroup", groups)
        self.file(f"proc/{pid}/environ", environ)
        return pid

    def end(self, pid):
        """End a process, as if its parent had reaped it."""
        shutil.rmtree(self.proc / str(pid), ignore_errors=True)


def owner_of(machine, pid=42):
    """Return the owner of a process, without earlier knowledge."""
    with open_process(machine.proc, pid) as process:
        return Naming(machine.places).name_owner(process, process.command_and_start()[0])


def name_of(machine, pid=42):
    """Return the name of a process's owner."""
    return owner_of(machine, pid).name


def named(machine, pid=42):
    """Return the name of a process's owner, and True if the name is final."""
    owner = owner_of(machine, pid)
    return owner.name, owner.is_final


def reports_of(*pids):
    """Return a report in which each of *pids* holds an idle core."""
    return report(
        *[
            runtime(counters([0] * len(pids)), memory({core: 1}), pid=pid, tag="1")
            for core, pid in enumerate(pids)
        ]
    )


CORE, DEVICE, OLD_DEVICE = (
    f"aws.amazon.com/{name}" for name in ("neuroncore", "neuron", "neurondevice")
)
EFA = "vpc.amazonaws.com/efa"
PLUGIN = "neuron.aws.com"
OTHER_DRIVER = "gpu.nvidia.com"


def varint(value):
    encoded = bytearray()
    while value > 0x7F:
        encoded.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes([*encoded, value])


def message(*parts):
    """Encode fields by number: texts and messages, or whole numbers."""
    encoded = b""
    for number, value in parts:
        if isinstance(value, int):
            encoded += varint(number << 3) + varint(value)
        else:
            content = value.encode() if isinstance(value, str) else value
            encoded += varint(number << 3 | 2) + varint(len(content)) + content
    return encoded


def devices(resource, *ids, is_new=False):
    """Encode ContainerDevices, with the topology of newer kubelets if *is_new*."""
    topology = [(3, message((1, message((1, 0)))))] if is_new else []
    return message((1, resource), *((2, device) for device in ids), *topology)


def claim(driver, *names):
    """Encode a DynamicResource of one claim with devices of *driver*."""
    parts = [
        message((1, message((1, f"{driver}/x={name}"))), (2, driver), (3, "ip-10-0-0-1"), (4, name))
        for name in names
    ]
    return message((2, "claim"), (3, "ml"), *((4, part) for part in parts))


def container(name, *given, claims=(), is_new=False):
    """Encode ContainerResources, with the CPUs and memory of Kubernetes 1.20 if *is_new*."""
    exclusive = [(3, 4), (3, 130), (4, message((1, "memory"), (2, 1 << 30)))] if is_new else []
    return message(
        (1, name), *((2, part) for part in given), *exclusive, *((5, part) for part in claims)
    )


def pod(name, *containers, namespace="ml"):
    """Encode PodResources."""
    return message((1, name), (2, namespace), *((3, part) for part in containers))


def listed(*pods):
    """Encode ListPodResourcesResponse."""
    return message(*((1, part) for part in pods))


TRAINER = pod("trainer-0", container("main", devices(CORE, "0", "1")))


class FakeKubelet:
    """
    A server of pod-resources on the socket below *root*, until it is closed.

    `answer` is called with each connection and decides the answer.
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
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def close(self):
        self._released.set()
        with suppress(OSError):
            self._listener.shutdown(socket.SHUT_RDWR)
        self._listener.close()
        self._thread.join()

    def hang(self, _channel):
        """Take the call and never answer."""
        self._released.wait()

    def _run(self):
        with suppress(OSError):
            while True:
                channel, _ = self._listener.accept()
                with channel, suppress(OSError):
                    self.answer(channel)


LIST_CALL = {
    b":method": b"POST",
    b":scheme": b"http",
    b":path": b"/v1.PodResourcesLister/List",
    b"content-type": b"application/grpc",
    b"te": b"trailers",
}
"""The headers that gRPC demands of a call of List."""

GOAWAY = bytes.fromhex("000008 07 00 00000000 00000001 00000000")
"""The frame of a server that stops and finishes its running call."""


def framed(body, flag=b"\0"):
    """Return a message of gRPC; *flag* is 1 if it is compressed."""
    return flag + len(body).to_bytes(4, "big") + body


def answers(body, *, status="0", frames=framed, first=b""):
    """
    Return a function that answers each List with *body* and *status*, as gRPC does.

    Another call has the status UNIMPLEMENTED. The status message ends with a space. *first* are
    the first bytes.
    """

    def answer(channel):
        config = H2Configuration(
            client_side=False,
            validate_outbound_headers=False,
            normalize_outbound_headers=False,
        )
        call = H2Connection(config)
        call.initiate_connection()
        channel.sendall(call.data_to_send())
        received = []
        while not any(isinstance(event, StreamEnded) for event in received):
            received += _events(call, channel)
        is_list = (LIST_CALL, framed(b"")) == _call_of(received)
        call.send_headers(1, [(":status", "200"), ("content-type", "application/grpc")])
        channel.sendall(call.data_to_send() + first)
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
            trailers = [("grpc-status", status if is_list else "12"), ("grpc-message", "`rm` ")]
            call.send_headers(1, trailers, end_stream=True)
        else:
            call.end_stream(1)
        channel.sendall(call.data_to_send())
        _wait_for_end(channel)

    return answer


def _call_of(received):
    """Return the headers of the call, without the authority, and its message."""
    headers = next(event.headers for event in received if isinstance(event, RequestReceived))
    message = b"".join(event.data for event in received if isinstance(event, DataReceived))
    return {name: text for name, text in headers if name != b":authority"}, message


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
