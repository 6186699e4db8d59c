"""
Debian's Prometheus and promtool, where they are: on PATH, or where `make prometheus` puts them.
"""

from __future__ import annotations

import json
import shutil
import socket
import subprocess
import urllib.error
import urllib.parse
import urllib.request
from contextlib import closing, contextmanager
from typing import TYPE_CHECKING

import pytest

from benchmarks.reports import ROOT
from proof.emitter_process import wait_until

if TYPE_CHECKING:
    from pathlib import Path

FETCHED = ROOT / "build" / "prometheus" / "usr" / "bin"
RULES = ROOT / "deploy" / "prometheus" / "rules.yaml"

CONFIGURATION = """
global: {{ scrape_interval: 1s, evaluation_interval: 1s }}
rule_files: [{rules}]
scrape_configs:
  - job_name: neuron-emf
    static_configs: [{{ targets: ['127.0.0.1:{port}'] }}]
"""


def program(name):
    """Where it is; without it the test is left out, and says how to get it."""
    found = shutil.which(name) or shutil.which(name, path=str(FETCHED))
    if found is None:
        pytest.skip(f"{name} is missing: run `make prometheus` on Debian or Ubuntu, or install it")
    return found


def free_port():
    """One that nobody listens on."""
    with closing(socket.socket()) as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


class Prometheus:
    """A running one."""

    def __init__(self, process, port):
        self.process = process
        self._address = f"http://127.0.0.1:{port}"

    def asked(self, path, **query):
        """The data of one answer of its API; None while it is not ready."""
        address = f"{self._address}/api/v1/{path}?{urllib.parse.urlencode(query)}"
        try:
            with urllib.request.urlopen(address, timeout=5) as answer:
                return json.load(answer)["data"]
        except (urllib.error.URLError, ConnectionError):
            return None

    def value(self, query):
        """The value of an instant query with one answer; None without an answer."""
        found = (self.asked("query", query=query) or {}).get("result")
        return float(found[0]["value"][1]) if found else None


@contextmanager
def scraping(folder: Path, port: int):
    """A Prometheus that scrapes *port* of this machine each second, under our rules."""
    config, own = folder / "prometheus.yaml", free_port()
    config.write_text(CONFIGURATION.format(rules=RULES, port=port), encoding="utf-8")
    command = [
        *(
            program("prometheus"),
            f"--config.file={config}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
        ),
        f"--web.listen-address=127.0.0.1:{own}",
    ]
    with (folder / "prometheus.log").open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log)
    try:
        found = Prometheus(process, own)
        wait_until(lambda: found.asked("status/buildinfo") is not None, 30)
        yield found
    finally:
        process.kill()
        process.wait()
