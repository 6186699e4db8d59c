"""
Start and stop `ministack`, an AWS emulator in Python, on 127.0.0.1 only.

It runs from its own environment (its pins conflict with ours), writes only to one folder of ours,
and is stopped if it listens on an address that other machines could reach, which is its default.
Its settings: the README of the installed package and the variables in its source.
"""

from __future__ import annotations

import contextlib
import json
import socket
import time
import urllib.error
import urllib.request
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from local.embedded_aws import clients
from local.embedded_aws.child_processes import (
    ChildProcess,
    EmbeddedAwsError,
    group_members,
    is_loopback,
    listening,
    require_installed,
)

if TYPE_CHECKING:
    from collections.abc import Callable

STRICT: Final = Path(__file__).with_name("strict.py")
HOST: Final = "127.0.0.1"
START_PATIENCE_S: Final = 30.0
_SERVER_POLL_S: Final = 0.1


class EmbeddedAws:
    """
    One emulator, from `start` to `stop`.

    Attributes:
        endpoint_url: Its address, `http://127.0.0.1:PORT`.
    """

    def __init__(self, program: Path, folder: Path) -> None:
        """Take the `ministack` command *program*, and *folder* for all its files."""
        self._program = program
        self._folder = folder
        self._child: ChildProcess | None = None
        self._clients: dict[str, Any] = {}
        self.endpoint_url = ""

    def start(self, check: Callable[[], None] = lambda: None) -> None:
        """
        Start it and wait until it answers; *check* is called while waiting.

        Raises:
            EmbeddedAwsError: If it is not installed, does not answer within
                `START_PATIENCE_S`, or listens on an address that is not loopback.
        """
        require_installed("embedded AWS", self._program)
        tail = ""
        for _ in range(3):
            child = self._launch(_free_port())
            try:
                if self._wait_until_ready(check):
                    self.refuse_strangers()
                    return
            except BaseException:
                self.stop()
                raise
            tail = child.tail()
            self.stop()
            # Another program may have taken the port since the kernel chose it.
            if "already in use" not in tail:
                break
        waited = f"within {START_PATIENCE_S:.0f} s"
        msg = f"the embedded AWS did not answer on {self.endpoint_url} {waited}"
        raise EmbeddedAwsError(msg, tail)

    def client(self, service: str) -> Any:  # noqa: ANN401  # boto3 publishes no types
        """Return the client of *service*, which its first use creates."""
        if service not in self._clients:
            self._clients[service] = clients.client(service, self.endpoint_url)
        return self._clients[service]

    def environment(self) -> dict[str, str]:
        """Return the variables for programs that use this emulator."""
        return clients.environment(self.endpoint_url)

    def alive(self) -> bool:
        """True if the process still runs."""
        return self._child is not None and self._child.exit_code() is None

    def stop(self) -> None:
        """Stop it and its Lambda workers. May be called twice."""
        for opened in self._clients.values():
            opened.close()
        self._clients.clear()
        child = self._child
        self._child = None
        if child is not None:
            # Its state is discarded, so a slow stop has no use.
            child.stop(patience_s=0.5)

    def _launch(self, port: int) -> ChildProcess:
        for name in ("state", "s3", "tmp"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        settings = clients.environment()
        settings.update(
            BIND_HOST=HOST,  # the default is 0.0.0.0
            GATEWAY_PORT=str(port),
            IOT_MTLS_ENABLED="0",  # otherwise it opens 0.0.0.0:8883 in spite of BIND_HOST
            SFTP_ENABLED="0",
            STATE_DIR=str(self._folder / "state"),
            PERSIST_STATE="0",
            S3_DATA_DIR=str(self._folder / "s3"),
            TMPDIR=str(self._folder / "tmp"),
            MINISTACK_REGION=clients.EMBEDDED_REGION,
            LOG_LEVEL="WARNING",
            PYTHONUNBUFFERED="1",
        )
        settings.pop("DOCKER_HOST", None)
        self.endpoint_url = f"http://{HOST}:{port}"
        self._child = ChildProcess(
            "the embedded AWS",
            [str(self._program.with_name("python")), str(STRICT)],
            output=self._folder / "ministack.log",
            environment=settings,
            folder=self._folder,
        )
        return self._child

    def _wait_until_ready(self, check: Callable[[], None]) -> bool:
        deadline = time.monotonic() + START_PATIENCE_S
        while time.monotonic() < deadline and self.alive():
            check()
            if _answers(f"{self.endpoint_url}/_ministack/ready"):
                return True
            time.sleep(_SERVER_POLL_S)
        return False

    def refuse_strangers(self) -> None:
        """
        Stop it if other machines could reach it or its Lambda workers.

        Raises:
            EmbeddedAwsError: If it had to be stopped.
        """
        members = group_members(self._child.pid) if self._child else []
        strange = [f"{host}:{port}" for host, port in listening(members) if not is_loopback(host)]
        if strange:
            self.stop()
            places = f"{', '.join(strange)}, expected {HOST} only"
            msg = f"the embedded AWS listens on {places}: it was stopped"
            raise EmbeddedAwsError(msg)


def _free_port() -> int:
    with socket.create_server((HOST, 0)) as probe:
        return int(probe.getsockname()[1])


def _answers(url: str) -> bool:
    opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
    with contextlib.suppress(OSError, ValueError), opener.open(url, timeout=2.0) as answer:
        return bool(json.load(answer))
    return False
