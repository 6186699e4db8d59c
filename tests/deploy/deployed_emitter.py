"""
The emitter as a container would run it: with the variables that it is given, and asked for its
health by the very command of the health check.

What is not as in a container: the user, the file systems and the namespaces are those of the
test, and the spool is in a folder of the test's.
"""

from __future__ import annotations

import json
import signal
import subprocess
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING

from tests.docs.places import instance
from tests.programs import run_program

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    import pytest

    from tests.docs.places import Place

PATIENCE_S = 300.0
OF_THE_PLACE = {"NEURON_EMF_SPOOL_DIR"}
"""Variables of a place that stand for a path of the container."""


class DeployedEmitter:
    """One emitter in one place."""

    def __init__(self, place: Place, variables: Mapping[str, str]) -> None:
        assert "/var/lib/neuron-emf" == variables["NEURON_EMF_SPOOL_DIR"]
        given = {name: value for name, value in variables.items() if name not in OF_THE_PLACE}
        self._place = place
        self._truth = place.folder / ".reported"  # written by the simulated monitor
        truth = {"NEURON_SIM": place.play(self._truth)}
        self._environment = {**place.variables, **truth, **given}
        self._process: subprocess.Popen[str] | None = None

    def start(self) -> None:
        """The command of the image."""
        self._process = subprocess.Popen(
            ["neuron-emf", "run"],
            cwd=self._place.folder,
            env=self._environment,
            stderr=subprocess.PIPE,
            text=True,
        )

    def is_well(self, command: Sequence[str]) -> bool:
        """What the health check says."""
        run = run_program(
            command, cwd=self._place.folder, env=self._environment, timeout=PATIENCE_S
        )
        assert run.returncode in {0, 1}, run.stderr
        return run.returncode == 0

    def becomes_well(self, command: Sequence[str]) -> bool:
        """Whether it does, and has read a report, while there is patience."""
        until_s = time.monotonic() + PATIENCE_S
        while time.monotonic() < until_s and self._process and self._process.poll() is None:
            if self._truth.exists() and self.is_well(command):
                return True
            time.sleep(0.1)
        return False

    def stop(self) -> int:
        """As an engine stops a container; its exit code."""
        assert self._process is not None
        self._process.send_signal(signal.SIGTERM)
        self._process.communicate(timeout=PATIENCE_S)
        return self._process.returncode

    def minutes(self) -> list[dict[str, object]]:
        """The minute lines that came to the account."""
        account = self._place.account
        lines = [json.loads(one.message) for one in account.rules.applied]
        return [line for line in lines if line["Kind"] == "minute"]

    def kill(self) -> None:
        """Leave nothing behind."""
        if self._process is not None and self._process.poll() is None:
            self._process.kill()
            self._process.communicate()


@contextmanager
def deployed_emitter(
    folder: Path, request: pytest.FixtureRequest, variables: Mapping[str, str]
) -> Iterator[DeployedEmitter]:
    """An emitter that is not yet started, beside a simulated neuron-monitor and an account."""
    with instance(folder, request) as place:
        emitter = DeployedEmitter(place, variables)
        try:
            yield emitter
        finally:
            emitter.kill()
