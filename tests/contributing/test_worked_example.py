"""CONTRIBUTING.md is believed: what it says a metric takes is done to a copy of the sources."""

from __future__ import annotations

import json
import os
import re
import shutil
import sys
from hashlib import sha256
from pathlib import Path

import pytest

from tests.programs import run_program

REPOSITORY = Path(__file__).resolve().parent.parent.parent
COPIED = (
    *("emitter", "lambda", "local", "benchmarks", "neuron_emf", "proof", "tests", "docs"),
    *("README.md", "pyproject.toml", "template.yaml", "views.yaml"),
)
IGNORED = shutil.ignore_patterns("__pycache__", ".hypothesis", ".*_cache")
PERFORMED = re.compile(r"<!-- performed -->\n```diff\n(.*?)```\n", re.DOTALL)
DIFFS = PERFORMED.findall((REPOSITORY / "CONTRIBUTING.md").read_text(encoding="utf-8"))
LINES = {
    f"tests/data/wire/v1/{name}.lines.jsonl"
    for name in ("given_bare", "given_busy", "reserved", "empty")
}
GOLDENS = (
    *("tests/docs/test_generated_blocks.py", "tests/wire/test_wire_golden.py"),
    *("-k", "README or metrics or replay"),
)
ROLL_UP = """
import sys
from aggregator.rollups.publication import due
from aggregator.rollups.line import rollup_line
from aggregator.rollups.rollup import RollupInProgress
from neuron_wire import parse
from neuron_wire.catalogue import rollup_metrics
from neuron_wire.merging import merge_records

rollup = RollupInProgress("blue", 15)
for line in sys.stdin:
    rollup.add(merge_records([parse(line)]))
found = rollup.finish([])
print(rollup_line(found, 29_400_000, due(found, None), rollup_metrics("HostSwapUsed")[0]))
"""

pytestmark = [pytest.mark.slow]


class Copy:
    """The sources in a folder of their own, where a diff may do what it says."""

    def __init__(self, folder):
        self.folder = folder
        for name in COPIED:
            source = REPOSITORY / name
            if source.is_dir():
                shutil.copytree(source, folder / name, ignore=IGNORED)
            else:
                shutil.copy(source, folder / name)
        self._before = self._files()

    def run(self, *command, text=""):
        """What *command* prints, run as in a clone of its own."""
        done = run_program(
            command,
            cwd=self.folder,
            input=text,
            env={
                "PATH": os.environ["PATH"],
                "HOME": str(self.folder),
                "PYTHONPATH": f"{self.folder}:{self.folder / 'lambda'}",
                "PYTHONDONTWRITEBYTECODE": "1",
                "GIT_CEILING_DIRECTORIES": str(self.folder.parent),
            },
        )
        assert 0 == done.returncode, f"{command}: {done.stdout}\n{done.stderr}"
        return done.stdout

    def apply(self, *diffs):
        """Do what *diffs* say; lines may have moved since they were written."""
        for diff in diffs:
            self.run("git", "apply", "--recount", "-", text=diff)

    def python(self, *arguments, text=""):
        """Run this interpreter."""
        return self.run(sys.executable, *arguments, text=text)

    def test(self, *arguments):
        """Run tests of the copy."""
        return self.python("-m", "pytest", "-q", "-p", "no:cacheprovider", *arguments)

    def replay(self, *reports, tier="cluster"):
        """The one minute line of *reports*, by the copy's own emitter."""
        file = self.folder / "reports.jsonl"
        file.write_text("".join(f"{json.dumps(one)}\n" for one in reports), encoding="utf-8")
        options = ("--interval", "5", "--start", "2026-01-01T00:00:00Z", "--cluster", "blue")
        try:
            printed = self.python(
                "-m", "neuron_emf", "replay", str(file), *options, "--metrics", tier
            )
        finally:
            file.unlink()
        (line,) = (one for one in printed.splitlines() if json.loads(one)["Kind"] == "minute")
        return line

    def changed(self):
        """The files that are not as they were copied."""
        now = self._files()
        return {
            name for name in now.keys() | self._before if now.get(name) != self._before.get(name)
        }

    def _files(self):
        return {
            str(path.relative_to(self.folder)): sha256(path.read_bytes()).digest()
            for path in self.folder.rglob("*")
            if path.is_file() and not {"__pycache__", ".hypothesis"} & set(path.parts)
        }


def report(swap, error=""):
    """Of a host without a runtime."""
    return {
        "neuron_runtime_data": [],
        "system_data": {
            "memory_info": {
                "period": 5.0,
                "memory_total_bytes": 8 << 30,
                "memory_used_bytes": 7 << 30,
                "swap_total_bytes": 2 << 30,
                "swap_used_bytes": swap,
                "error": error,
            }
        },
        "instance_info": {"instance_id": "i-0123456789abcdef0", "error": ""},
        "neuron_hardware_info": {
            "neuron_device_count": 1,
            "neuroncore_per_device_count": 4,
            "error": "",
        },
    }


def defined(line):
    """Units of the metrics that CloudWatch extracts of *line*, by name."""
    (directive,) = json.loads(line)["_aws"]["CloudWatchMetrics"]
    return {one["Name"]: one["Unit"] for one in directive["Metrics"]}


def files_of(*diffs):
    """The files that *diffs* change."""
    return {name for diff in diffs for name in re.findall(r"^\+\+\+ b/(.+)$", diff, re.MULTILINE)}


@pytest.fixture(scope="module")
def extended(tmp_path_factory):
    """A copy with both metrics of the page, the tables of metrics written anew."""
    copy = Copy(tmp_path_factory.mktemp("extended"))
    copy.apply(*DIFFS)
    copy.test(*GOLDENS, "--update-golden")
    return copy


def test_nothing_else_was_needed(extended):
    """
    Two files by hand for each metric; by their tests the tables of metrics, and the new member
    alone in the lines that have such a report. The catalogue, sizes of lines and items of the
    table hold.
    """
    changed = extended.changed()
    assert "docs/reference/metrics.md" in changed
    assert files_of(*DIFFS) | LINES == {name for name in changed if not name.endswith(".md")}
    for name in LINES:
        now, before = ((one / name).read_text("utf-8") for one in (extended.folder, REPOSITORY))
        assert before == now.replace('"HostSwapUsed":0,', "")
    extended.run(sys.executable, "-m", "ruff", "check", "--no-cache", *files_of(*DIFFS))
    extended.run(
        *(sys.executable, "-m", "ruff", "format", "--check", "--no-cache"), *files_of(*DIFFS)
    )
    extended.test(
        "tests/wire/test_catalogue.py",
        "tests/wire/test_documented_lines.py",
        "tests/wire/test_line_sizes.py",
        "tests/emitter/fold/test_fold_readings.py",
        "tests/aggregator/storage/test_item.py",
        "tests/aggregator/rollups/test_line.py",
    )


@pytest.mark.parametrize("tier", ["none", "cluster", "instance"])
def test_the_metric_is_in_the_line(extended, tier):
    """The last report that tells it counts; a metric from the tier of its entry on."""
    line = extended.replay(report(1 << 20), report(5 << 20), report(9, error="no"), tier=tier)
    assert 5 << 20 == json.loads(line)["HostSwapUsed"]
    if tier == "none":
        assert "_aws" not in json.loads(line)
    elif tier == "cluster":
        assert "HostSwapUsed" not in defined(line)
    else:
        assert "Bytes" == defined(line)["HostSwapUsed"]


def test_a_number_of_the_rollups_is_two_lines_more(extended):
    """
    Its entry and its line in the table: the sum over the instances, a metric where it is named.
    """
    first = extended.replay(report(3 << 20))
    second = first.replace("i-0123456789abcdef0", "i-0fedcba9876543210")
    line = extended.python("-c", ROLL_UP, text=f"{first}\n{second}\n")
    assert 6 << 20 == json.loads(line)["HostSwapUsed"]
    assert "Bytes" == defined(line)["HostSwapUsed"]
