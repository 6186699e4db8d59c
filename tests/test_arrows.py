"""
Who may import whom, compared with the imports that `ast` finds.

Adding a dependency between packages, or on a big library, means editing a table here in the same
change.
Imports under TYPE_CHECKING count too: knowing a type is knowing the module.
"""

from __future__ import annotations

import ast
import graphlib
import sys
from typing import NamedTuple

import pytest

from local import REPOSITORY

# Where each package of ours lives, and which of the others it may import.
ROOM_FOLDERS = {
    "neuron_emitter": REPOSITORY / "emitter" / "neuron_emitter",
    "neuron_emf": REPOSITORY / "neuron_emf",
    "aggregator": REPOSITORY / "lambda" / "aggregator",
    "neuron_accounts": REPOSITORY / "lambda" / "neuron_accounts",
    "neuron_wire": REPOSITORY / "lambda" / "neuron_wire",
    "neuron_words": REPOSITORY / "lambda" / "neuron_words",
    "local": REPOSITORY / "local",
    "proof": REPOSITORY / "proof",
    "benchmarks": REPOSITORY / "benchmarks",
}
SHARED_ROOMS = {"neuron_accounts", "neuron_wire", "neuron_words"}
PRODUCT = {"aggregator", "neuron_emf", "neuron_emitter"} | SHARED_ROOMS
ARROWS = {
    "neuron_emitter": SHARED_ROOMS,
    "neuron_emf": SHARED_ROOMS | {"neuron_emitter"},
    "aggregator": SHARED_ROOMS,
    "neuron_words": {"neuron_accounts", "neuron_wire"},
    "neuron_accounts": {"neuron_wire"},
    "neuron_wire": set(),
    "local": PRODUCT,
    "benchmarks": PRODUCT | {"proof", "tests"},  # the page is measured on the tests' account
    "proof": PRODUCT | {"benchmarks", "local"},
}

# The one module of each package that knows a big library.
KEEPERS = {
    ("neuron_emitter", "boto3"): {"neuron_emitter.delivery.cloudwatch_logs"},
    # the second signs one request where every other way to a cluster name has failed
    ("neuron_emitter", "botocore"): {
        "neuron_emitter.delivery.cloudwatch_logs",
        "neuron_emitter.instance.instance_tags",
    },
    ("neuron_emitter", "aws_embedded_metrics"): {"neuron_emitter.lines.emf"},
    ("neuron_emitter", "h2"): {"neuron_emitter.owners.pod_resources"},
    ("neuron_emitter", "prometheus_client"): {
        "neuron_emitter.prometheus.metrics_page",
        "neuron_emitter.prometheus.scrape_server",
    },
    ("neuron_emf", "boto3"): {"neuron_emf.account"},
    ("neuron_emf", "botocore"): {"neuron_emf.account"},
    ("neuron_emf", "jinja2"): {"neuron_emf.report.exports"},
    ("neuron_emf", "rich"): {  # `command_output` sets it up; others lay out what they show
        "neuron_emf.check.command",
        "neuron_emf.check_results",
        "neuron_emf.cost.listing",
        "neuron_emf.deploy.change_set",
        "neuron_emf.deploy.plan",
        "neuron_emf.deploy.removal",
        "neuron_emf.report.bill_report",
        "neuron_emf.report.team_report",
        "neuron_emf.report.terminal",
        "neuron_emf.findings.command",
        "neuron_emf.verdict.instance_verdict",
        "neuron_emf.lint.command",
        "neuron_emf.command_output",
        "neuron_emf.top.listing",
    },
    ("local", "boto3"): {"local.embedded_aws.clients"},
    ("local", "botocore"): {"local.embedded_aws.clients"},
    ("aggregator", "boto3"): {"aggregator.aws"},
    ("aggregator", "botocore"): {"aggregator.aws"},
    ("aggregator", "aws_lambda_powertools"): {"aggregator.runtime"},
}

# Libraries that a package must not know at all: they would cost an instance memory, or a function
# its cold start.
STRANGERS = {
    "neuron_emitter": {"aws_lambda_powertools", "jinja2", "rich"},
    "neuron_emf": {"aws_lambda_powertools"},
    "aggregator": {"aws_embedded_metrics", "click", "msgspec"},
}


class Import(NamedTuple):
    """One import statement: the module it stands in, its line, and the full name it asks for."""

    module: str
    line: int
    target: str

    @property
    def package(self) -> str:
        """The top package of what is imported."""
        return self.target.partition(".")[0]


def imports_of_source(module: str, source: str) -> list[Import]:
    """Every import in one module, also inside functions."""
    found = []
    for node in ast.walk(ast.parse(source)):
        names: list[str] = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            assert not node.level, f"{module}:{node.lineno} is relative: name the package"
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        elif isinstance(node, ast.Call) and node.args and isinstance(node.args[0], ast.Constant):
            called = ast.unparse(node.func).rpartition(".")[2]
            names = [str(node.args[0].value)] if called in {"import_module", "__import__"} else []
        found += [Import(module, getattr(node, "lineno", 0), name) for name in names]
    return found


def imports_of_package(name: str) -> list[Import]:
    """Every import in one package of ours."""
    found = []
    for path in sorted(ROOM_FOLDERS[name].rglob("*.py")):
        parts = [name, *path.relative_to(ROOM_FOLDERS[name]).with_suffix("").parts]
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        found += imports_of_source(module, path.read_text(encoding="utf-8"))
    assert found, f"{name} has moved, or imports nothing"
    return found


IMPORTS = {name: imports_of_package(name) for name in ROOM_FOLDERS}


def wrong(name: str, imports: list[Import]) -> list[Import]:
    """Imports that the tables above do not allow to package *name*."""
    ours = {*ARROWS, "tests"} - ARROWS[name] - {name}
    found = [asked for asked in imports if asked.package in ours | STRANGERS.get(name, set())]
    found += [
        asked
        for asked in imports
        if (keepers := KEEPERS.get((name, asked.package))) and asked.module not in keepers
    ]
    if name in SHARED_ROOMS:  # in the wheel and in the artefact, where it must cost neither
        found += [
            asked
            for asked in imports
            if asked.package not in {*sys.stdlib_module_names, *SHARED_ROOMS}
        ]
    return found


def circle(imports: list[Import]) -> list[str]:
    """Modules that import each other in a loop, each the next; none when there is no loop."""
    modules = {asked.module for asked in imports}
    knows: dict[str, set[str]] = {}
    for module, _, asked in imports:
        names = asked.split(".")
        known = (".".join(names[:end]) for end in range(len(names), 0, -1))
        target = next((name for name in known if name in modules), module)
        if not module.startswith(target):  # a package's face knows its rooms
            knows.setdefault(module, set()).add(target)
    try:
        graphlib.TopologicalSorter(knows).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def mutual_folders(imports: list[Import]) -> set[tuple[str, str]]:
    """Pairs of folders below the packages that import each other."""
    modules = {entry.module for entry in imports}
    arrows = set()
    for module, _, asked in imports:
        target = asked if asked in modules else asked.rpartition(".")[0]
        arrows.add((module.rpartition(".")[0], target.rpartition(".")[0]))
    return {
        (folder, other)
        for folder, other in arrows
        if folder < other and (other, folder) in arrows and "." in folder and "." in other
    }


@pytest.mark.parametrize("name", ROOM_FOLDERS)
def test_a_package_imports_only_what_the_tables_allow(name):
    """
    Emitter and aggregator never meet but in neuron_wire, no emitter knows what people type, and a
    big library is known to the modules that keep it.
    """
    assert [] == wrong(name, IMPORTS[name])


def test_nothing_that_is_delivered_knows_what_is_beside_it():
    """The table itself gives no part of the product an arrow to the rehearsal or the proofs."""
    beside = ARROWS.keys() - PRODUCT
    assert set() == {name for name in PRODUCT if ARROWS[name] & beside}


def test_no_modules_import_each_other_in_a_circle():
    """Also not under TYPE_CHECKING, and not by way of a third."""
    assert [] == circle([asked for imports in IMPORTS.values() for asked in imports])


def test_no_folders_import_each_other():
    """Of two folders of a package at most one knows the other."""
    assert set() == mutual_folders([entry for imports in IMPORTS.values() for entry in imports])
