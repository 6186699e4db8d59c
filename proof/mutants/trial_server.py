"""
Try mutants one after the other: `python trial_server.py`, in a copy of the tree.

Reads one JSON object a line and answers with one. Third-party libraries are
imported once, before the first fork; what the tests read of ours is imported by
each child anew, so that a trial costs what its tests cost and no more.

Alone in its process, and knows nothing of this repository but what it is asked.
"""

from __future__ import annotations

import contextlib
import importlib
import importlib.util
import json
import os
import resource
import signal
import sys
import tempfile
import time
from pathlib import Path

import hypothesis
import pytest

POLL_S = 0.005
MAX_DATA_BYTES = 3 << 30
ARGUMENTS = [
    "-q",
    "-x",
    "--no-header",
    "--no-summary",
    "--tb=no",
    "-Wignore::pytest.PytestAssertRewriteWarning",  # plugins are imported before pytest begins
    "--hypothesis-profile=mutants",
    "-pno:cacheprovider",
    "-pno:xdist",
    "-pno:terminalreporter",
]


class Watcher:
    """Runs the fast tests first, and notes which failed."""

    def __init__(self) -> None:
        self.name = ""

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items):
        """Laws after examples, which are faster and see most of what a law sees."""
        items.sort(key=lambda item: item.get_closest_marker("hypothesis") is not None)

    def pytest_runtest_logreport(self, report):
        """Called by pytest for each part of each test."""
        if report.failed and not self.name:
            self.name = report.nodeid

    def pytest_collectreport(self, report):
        """Called by pytest for each file."""
        if report.failed and not self.name:
            self.name = f"import of {report.nodeid}"


def run(tests, answer, *, is_clean):
    """In the child: the tests once; never returns."""
    os.setsid()
    resource.setrlimit(resource.RLIMIT_DATA, (MAX_DATA_BYTES, MAX_DATA_BYTES))
    quiet = os.open(os.devnull, os.O_RDWR)
    for descriptor in (0, 1, 2):
        os.dup2(quiet, descriptor)
    watcher = Watcher()
    code = pytest.main([*ARGUMENTS, *tests], plugins=[watcher])
    said = {"code": int(code), "by": watcher.name}
    if is_clean:
        said["modules"] = libraries()
    answer.write_text(json.dumps(said), encoding="utf-8")
    os._exit(0)


def libraries():
    """What was imported that is not ours: from the standard library or from site-packages."""
    here = str(Path.cwd())
    return [
        name
        for name, module in list(sys.modules.items())
        if not str(getattr(module, "__file__", None) or "").startswith(here)
        and getattr(module, "__file__", None)
        and name != "__main__"
    ]


def attempt(request, folder):
    """One trial in a child of its own: how it ended."""
    answer = Path(folder) / "answer.json"
    answer.unlink(missing_ok=True)
    child = os.fork()
    if child == 0:
        try:
            run(request["tests"], answer, is_clean=request.get("clean", False))
        except BaseException:  # noqa: BLE001 - whatever it is, the child ends here
            sys.excepthook(*sys.exc_info())
            sys.stderr.flush()
        os._exit(70)
    deadline = time.monotonic() + request["seconds"]
    done = 0
    while not done and time.monotonic() < deadline:
        done, _ = os.waitpid(child, os.WNOHANG)
        if not done:
            time.sleep(POLL_S)
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(child, signal.SIGKILL)
    if not done:
        os.waitpid(child, 0)
        return {"code": 1, "by": "time"}
    if not answer.exists():
        return {"code": 1, "by": "end of its process"}
    return json.loads(answer.read_text(encoding="utf-8"))


def forget_compiled(path):
    """A mutant of the same second and size would pass for what was compiled before."""
    Path(importlib.util.cache_from_source(str(path))).unlink(missing_ok=True)


def serve():
    """Answer until the input ends."""
    hypothesis.settings.register_profile(
        "mutants",
        deadline=None,
        derandomize=True,
        database=None,
        max_examples=15,
        phases=(hypothesis.Phase.explicit, hypothesis.Phase.generate),
        suppress_health_check=list(hypothesis.HealthCheck),
    )
    with tempfile.TemporaryDirectory() as folder:
        for line in sys.stdin:
            request = json.loads(line)
            if "file" in request:
                path = Path(request["file"])
                original = path.read_bytes()
                forget_compiled(path)
                path.write_text(request["source"], encoding="utf-8")
                try:
                    outcome = attempt(request, folder)
                finally:
                    path.write_bytes(original)
                    forget_compiled(path)
            else:
                outcome = attempt(request, folder)
                for name in outcome.pop("modules", ()):
                    with contextlib.suppress(Exception):
                        importlib.import_module(name)
            sys.stdout.write(json.dumps(outcome) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    sys.path[0] = ""  # the copy, not the folder of this file
    serve()
