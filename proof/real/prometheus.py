"""
Let a real Prometheus scrape the emitter, which reads the simulated neuron-monitor.

Both listen only on 127.0.0.1, on ports that the kernel chooses.
"""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.parse
import urllib.request
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from local import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping
    from pathlib import Path

TITLE = "Prometheus"
CLAIM = "A Prometheus server scrapes the page of `run --prometheus` and keeps its values."

SAMPLE_WITHIN_S = 240.0
UTILIZATION_SERIES = "neuroncore_utilization_ratio"


def missing() -> str | None:
    """Return why the part cannot run here."""
    if shutil.which("prometheus") is None or shutil.which("promtool") is None:
        return "prometheus or promtool is missing: run proof/real/install.sh prometheus"
    return None


def versions() -> dict[str, str]:
    """Return the version of Prometheus."""
    printed = subprocess.run(
        ["prometheus", "--version"], capture_output=True, text=True, check=True
    )
    return {"Prometheus": (printed.stdout + printed.stderr).split()[2]}


def run(folder: Path) -> list[str]:
    """Scrape until Prometheus has the first sample of a core, then check the page with promtool."""
    page_port = free_port()
    port = free_port()
    settings = folder / "prometheus.yml"
    settings.write_text(
        json.dumps(
            {
                "global": {"scrape_interval": "1s"},
                "scrape_configs": [
                    {
                        "job_name": "neuron",
                        "static_configs": [{"targets": [f"127.0.0.1:{page_port}"]}],
                    }
                ],
            }
        )
    )
    monitor = folder / "neuron-monitor"
    monitor.write_text(f'#!/bin/sh\nexec {sys.executable} -m local.monitor "$@"\n')
    monitor.chmod(0o755)
    emitter = [
        sys.executable,
        "-m",
        "neuron_emitter",
        "run",
        "--cluster",
        "blue",
        "--output",
        "stdout",
    ]
    emitter += ["--prometheus", str(page_port), "--monitor-command", str(monitor)]
    emitter += ["--attribution", "none", "--kernel-messages", "none", "--interval", "1"]
    server = ["prometheus", f"--config.file={settings}", f"--storage.tsdb.path={folder / 'data'}"]
    server += [f"--web.listen-address=127.0.0.1:{port}"]
    variables = {
        "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'lambda'}",
        "NEURON_SIM": '{"scenario": "half-idle", "seed": 2, "period_s": 1}',
        "NEURON_EMF_SPOOL_DIR": str(folder / "spool"),
    }
    with running(emitter, folder / "emitter.log", variables), running(server, folder / "log", {}):
        samples = wait_for(port, UTILIZATION_SERIES)
        health = query(f"http://127.0.0.1:{port}/api/v1/targets?state=active")
        page = urllib.request.urlopen(f"http://127.0.0.1:{page_port}/metrics").read()
    (target,) = health["data"]["activeTargets"]
    assert target["health"] == "up", target["lastError"]
    values = [float(sample["value"][1]) for sample in samples]
    assert all(0 <= value <= 1 for value in values), values
    checked = subprocess.run(
        ["promtool", "check", "metrics"], input=page, capture_output=True, check=False
    )
    complaints = (checked.stdout + checked.stderr).decode().strip().splitlines()
    assert all(line.startswith("system_vcpu_count ") for line in complaints), complaints
    return [
        f"{len(values)} cores with {UTILIZATION_SERIES} from 0 to 1; promtool accepts the page."
    ]


def free_port() -> int:
    """Return a port of 127.0.0.1 on which no program listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])


@contextmanager
def running(command: list[str], log: Path, variables: Mapping[str, str]) -> Iterator[None]:
    """Run a program with its output in *log* until the end of the block."""
    environment = {**os.environ, **variables}
    with log.open("w") as output:
        process = subprocess.Popen(command, stdout=output, stderr=output, env=environment)
        try:
            yield
            assert process.poll() is None, log.read_text("utf-8", "replace")[-2000:]
        finally:
            process.terminate()
            process.wait()


def wait_for(port: int, name: str) -> list[dict[str, Any]]:
    """Return the newest samples of a metric as soon as Prometheus has one."""
    address = f"http://127.0.0.1:{port}/api/v1/query?query={urllib.parse.quote(name)}"
    deadline_s = time.monotonic() + SAMPLE_WITHIN_S
    while time.monotonic() < deadline_s:
        try:
            samples: list[dict[str, Any]] = query(address)["data"]["result"]
        except (urllib.error.URLError, ConnectionError):
            samples = []
        if samples:
            return samples
        time.sleep(0.5)
    msg = f"Prometheus has no sample of {name} after {SAMPLE_WITHIN_S:.0f} s."
    raise AssertionError(msg)


def query(address: str) -> Any:
    """Return Prometheus' answer."""
    with urllib.request.urlopen(address, timeout=30) as answer:
        return json.load(answer)
