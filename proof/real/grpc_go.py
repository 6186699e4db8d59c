"""
Read pod resources from a server of grpc-go, the library of the kubelet.

The sources of grpc-go are a Debian package: no Go module is fetched.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from neuron_emitter.owners.assignments import UnknownAssignmentsError
from neuron_emitter.owners.pod_resources import allocations_of, list_pods

if TYPE_CHECKING:
    from collections.abc import Iterator

TITLE = "grpc-go"
CLAIM = "The emitter's pod-resources client reads a server of grpc-go on a Unix socket."

SERVER_SOURCE = Path(__file__).with_name("grpc_server.go")
GOPATH = Path("/usr/share/gocode")
LIBRARY = GOPATH / "src/google.golang.org/grpc"
SERVED_PODS = 4_000
SERVER_REFUSALS = {
    "compressed": "the answer is compressed",
    "refused": "rejected the call: too many calls",
    "silent": "timed out",
    "stopped": "",
}


def missing() -> str | None:
    """Return why the part cannot run here."""
    if shutil.which("go") is None or not LIBRARY.is_dir():
        return "go or grpc-go is missing: run proof/real/install.sh grpc_go"
    return None


def versions() -> dict[str, str]:
    """Return the versions of Go and of grpc-go."""
    printed = subprocess.run(["go", "version"], capture_output=True, text=True, check=True)
    text = (LIBRARY / "version.go").read_text("utf-8")
    match = re.search(r'Version = "([^"]+)"', text)
    return {
        "Go": printed.stdout.split()[2].removeprefix("go"),
        "grpc-go": match[1] if match else "?",
    }


def run(folder: Path) -> list[str]:
    """Read answers of several windows, an answer of a server that stops, and each refusal."""
    program = build(folder)
    answer = folder / "answer"
    answer.write_bytes(b"".join(map(pod, range(SERVED_PODS))))
    for mode in ("answer", "stopping"):
        with serving(program, folder / f"{mode}.sock", mode, answer) as socket:
            assignments = allocations_of(list_pods(str(socket), 60.0))
            assert len(assignments) == SERVED_PODS, (
                f"{mode}: {len(assignments)} of {SERVED_PODS} pods"
            )
    for mode, reason in SERVER_REFUSALS.items():
        with serving(program, folder / f"{mode}.sock", mode, answer) as socket:
            within_s = 0.2 if mode == "silent" else 60.0
            refusal = refusal_of(socket, within_s)
            assert reason in refusal, f"{mode}: {refusal}"
    size = answer.stat().st_size
    pods = f"{SERVED_PODS:,} pods in {size:,} bytes"
    return [
        f"{pods} are read, also when the server stops before the answer.",
        f"It names {len(SERVER_REFUSALS)} refusals: {', '.join(SERVER_REFUSALS)}.",
    ]


def build(folder: Path) -> Path:
    """Build the server from Debian's sources."""
    program = folder / "server"
    environment = {
        **os.environ,
        "GO111MODULE": "off",
        "GOPATH": str(GOPATH),
        "GOCACHE": str(folder / "cache"),
        "GOFLAGS": "-p=1",
    }
    command = ["go", "build", "-o", str(program), str(SERVER_SOURCE)]
    ended = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stderr
    return program


@contextmanager
def serving(program: Path, socket: Path, mode: str, answer: Path) -> Iterator[Path]:
    """Run the server in one mode, from its first line to the end of the block."""
    command = [str(program), str(socket), mode, str(answer)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as server:
        assert server.stdout is not None
        assert server.stdout.readline() == "ready\n"
        try:
            yield socket
        finally:
            server.kill()


def refusal_of(socket: Path, within_s: float) -> str:
    """Return the message of the error that the client raises."""
    try:
        list_pods(str(socket), within_s)
    except (UnknownAssignmentsError, ValueError, OSError) as error:
        return str(error) or type(error).__name__
    msg = f"{socket.stem} was answered."
    raise AssertionError(msg)


def pod(number: int) -> bytes:
    """Return one pod of the answer, with a core: fields of protobuf under 128 bytes."""
    device = field(1, b"aws.amazon.com/neuroncore") + field(2, str(number % 128).encode())
    container = field(1, b"main") + field(2, device)
    return field(1, field(1, f"web-{number}".encode()) + field(2, b"ml") + field(3, container))


def field(number: int, content: bytes) -> bytes:
    """Return a text or a message of protobuf."""
    return bytes([number << 3 | 2, len(content)]) + content
