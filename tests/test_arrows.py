"""
Permitted imports between packages, compared with the imports that `ast` finds.

A new dependency on a package or a big library needs an entry in a table below.

Imports under TYPE_CHECKING count too, because a type is a dependency.
"""

from __future__ import annotations

import ast
import graphlib
import sys
from typing import NamedTuple

import pytest

from local import REPOSITORY

# The folder of each package, and the packages that it may import.
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

# The modules of a package that may import a big library.
LIBRARY_MODULES = {
    ("neuron_emitter", "boto3"): {"neuron_emitter.delivery.cloudwatch_logs"},
    # the second signs one request if every other source of a cluster name failed
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
    ("neuron_emf", "rich"): {  # `command_output` configures rich; the others format their output
        "neuron_emf.check.listing",
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

# Libraries that a package must not import: memory on an instance, cold start of a function.
FORBIDDEN_LIBRARIES = {
    "neuron_emitter": {"aws_lambda_powertools", "jinja2", "rich"},
    "neuron_emf": {"aws_lambda_powertools"},
    "aggregator": {"aws_embedded_metrics", "click", "msgspec"},
}


class Import(NamedTuple):
    """One import statement: its module, its line and the imported full name."""

    module: str
    line: int
    target: str

    @property
    def package(self) -> str:
        """The top package of the imported name."""
        return self.target.partition(".")[0]


def imports_of_source(module: str, source: str) -> list[Import]:
    """Return every import in one module, also inside functions."""
    imports = []
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
        imports += [Import(module, getattr(node, "lineno", 0), name) for name in names]
    return imports


def imports_of_package(name: str) -> list[Import]:
    """Return every import in one package."""
    imports = []
    for path in sorted(ROOM_FOLDERS[name].rglob("*.py")):
        parts = [name, *path.relative_to(ROOM_FOLDERS[name]).with_suffix("").parts]
        module = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        imports += imports_of_source(module, path.read_text(encoding="utf-8"))
    assert imports, f"{name} has moved, or imports nothing"
    return imports


IMPORTS = {name: imports_of_package(name) for name in ROOM_FOLDERS}


def refused_imports(name: str, imports: list[Import]) -> list[Import]:
    """Return imports of package *name* that the tables above do not permit."""
    ours = {*ARROWS, "tests"} - ARROWS[name] - {name}
    refused = [
        entry for entry in imports if entry.package in ours | FORBIDDEN_LIBRARIES.get(name, set())
    ]
    refused += [
        entry
        for entry in imports
        if (keepers := LIBRARY_MODULES.get((name, entry.package))) and entry.module not in keepers
    ]
    if name in SHARED_ROOMS:  # part of the wheel and the artefact, so it adds no library to them
        refused += [
            entry
            for entry in imports
            if entry.package not in {*sys.stdlib_module_names, *SHARED_ROOMS}
        ]
    return refused


def import_cycle(imports: list[Import]) -> list[str]:
    """Return modules that import each other in a loop, in order; empty without a loop."""
    modules = {entry.module for entry in imports}
    knows: dict[str, set[str]] = {}
    for module, _, imported in imports:
        names = imported.split(".")
        known = (".".join(names[:end]) for end in range(len(names), 0, -1))
        target = next((name for name in known if name in modules), module)
        if not module.startswith(target):  # a package may import its own modules
            knows.setdefault(module, set()).add(target)
    try:
        graphlib.TopologicalSorter(knows).prepare()
    except graphlib.CycleError as error:
        return error.args[1]
    return []


def mutual_folders(imports: list[Import]) -> set[tuple[str, str]]:
    """Return pairs of folders below the packages that import each other."""
    modules = {entry.module for entry in imports}
    arrows = set()
    for module, _, imported in imports:
        target = imported if imported in modules else imported.rpartition(".")[0]
        arrows.add((module.rpartition(".")[0], target.rpartition(".")[0]))
    return {
        (folder, other)
        for folder, other in arrows
        if folder < other and (other, folder) in arrows and "." in folder and "." in other
    }


@pytest.mark.parametrize("name", ROOM_FOLDERS)
def test_a_package_imports_only_what_the_tables_allow(name):
    """
    A package imports only packages and libraries of the tables.

    Emitter and aggregator share only neuron_wire, neuron_accounts and neuron_words. The emitter
    does not import the commands.
    """
    assert [] == refused_imports(name, IMPORTS[name])


def test_the_product_imports_neither_rehearsal_nor_proofs():
    """The table permits no product package to import the rehearsal or the proofs."""
    others = ARROWS.keys() - PRODUCT
    assert set() == {name for name in PRODUCT if ARROWS[name] & others}


def test_no_modules_import_each_other_in_a_circle():
    """No modules import each other in a loop, under TYPE_CHECKING or through a third module."""
    assert [] == import_cycle([entry for imports in IMPORTS.values() for entry in imports])


def test_no_folders_import_each_other():
    """No two folders of a package import each other."""
    assert set() == mutual_folders([entry for imports in IMPORTS.values() for entry in imports])
