"""
Start and stop `ministack`, an AWS emulator in pure Python, on 127.0.0.1 only.

It runs from an environment of its own (its pins disagree with ours), keeps
everything it writes in one folder of ours, and is refused when it listens on an
address that others could reach: by default it would. Its settings: the README
of the installed package and the variables its source reads.
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
        endpoint_url: Where it answers, `http://127.0.0.1:PORT`.
    """

    def __init__(self, program: Path, folder: Path) -> None:
        """*program* is the `ministack` command; *folder* takes all it writes."""
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
            self._launch(_free_port())
            try:
                if self._wait_until_ready(check):
                    self.refuse_strangers()
                    return
            except BaseException:
                self.stop()
                raise
            tail = self._child.tail() if self._child else ""
            self.stop()
            # Another program may have taken the port since the kernel named it.
            if "already in use" not in tail:
                break
        waited = f"within {START_PATIENCE_S:.0f} s"
        msg = f"the embedded AWS did not answer on {self.endpoint_url} {waited}"
        raise EmbeddedAwsError(msg, tail)

    def client(self, service: str) -> Any:  # noqa: ANN401  # boto3 publishes no types
        """The one client of *service*, made at its first use."""
        if service not in self._clients:
            self._clients[service] = clients.client(service, self.endpoint_url)
        return self._clients[service]

    def environment(self) -> dict[str, str]:
        """Variables for programs that shall talk to this emulator."""
        return clients.environment(self.endpoint_url)

    @property
    def pid(self) -> int | None:
        """Process id while it runs."""
        return self._child.pid if self._child else None

    def alive(self) -> bool:
        """Whether the process still runs."""
        return self._child is not None and self._child.exit_code() is None

    def stop(self) -> None:
        """Stop it and its Lambda workers; safe to call twice."""
        for opened in self._clients.values():
            opened.close()
        self._clients.clear()
        child = self._child
        self._child = None
        if child is not None:
            # Its state dies with it, so a slow stop is worth nothing.
            child.stop(patience_s=0.5)

    def _launch(self, port: int) -> None:
        for name in ("state", "s3", "tmp"):
            (self._folder / name).mkdir(parents=True, exist_ok=True)
        settings = clients.environment()
        settings.update(
            BIND_HOST=HOST,  # default 0.0.0.0
            GATEWAY_PORT=str(port),
            IOT_MTLS_ENABLED="0",  # or it opens 0.0.0.0:8883 whatever BIND_HOST says
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
        Stop it if anybody but this machine could reach it or its Lambda workers.

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
