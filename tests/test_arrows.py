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
from pathlib import Path
from typing import NamedTuple

import pytest

REPOSITORY = Path(__file__).resolve().parent.parent

# Where each package of ours lives, and which of the others it may import.
FOLDERS = {
    "emitter": REPOSITORY / "emitter",
    "neuron_emf": REPOSITORY / "neuron_emf",
    "aggregator": REPOSITORY / "lambda" / "aggregator",
    "neuron_wire": REPOSITORY / "lambda" / "neuron_wire",
    "local": REPOSITORY / "local",
    "proof": REPOSITORY / "proof",
    "benchmarks": REPOSITORY / "benchmarks",
}
PRODUCT = {"aggregator", "emitter", "neuron_emf", "neuron_wire"}
ARROWS = {
    "emitter": {"neuron_wire"},
    "neuron_emf": {"emitter", "neuron_wire"},
    "aggregator": {"neuron_wire"},
    "neuron_wire": set(),
    "local": PRODUCT,
    "benchmarks": PRODUCT,
    "proof": PRODUCT | {"benchmarks", "local"},
}

# The one module of each package that knows a big library.
KEEPERS = {
    ("emitter", "boto3"): {"emitter.delivery.cloudwatch_logs"},
    # the second signs one request where every other way to a cluster name has failed
    ("emitter", "botocore"): {
        "emitter.delivery.cloudwatch_logs",
        "emitter.instance.instance_tags_api",
    },
    ("emitter", "aws_embedded_metrics"): {"emitter.lines.emf"},
    ("neuron_emf", "boto3"): {"neuron_emf.account"},
    ("neuron_emf", "botocore"): {"neuron_emf.account"},
    ("neuron_emf", "jinja2"): {"neuron_emf.report.page"},
    ("neuron_emf", "rich"): {  # `printing` sets it up; the others lay out what they show
        "neuron_emf.check.listing",
        "neuron_emf.cost.listing",
        "neuron_emf.report.terminal",
        "neuron_emf.lint.listing",
        "neuron_emf.printing",
        "neuron_emf.profile.listing",
        "neuron_emf.top.page",
        "neuron_emf.top.rows",
        "neuron_emf.top.screen",
    },
    ("neuron_emf", "textual"): {"neuron_emf.top.screen"},
    ("local", "boto3"): {"local.embedded_aws.clients"},
    ("local", "botocore"): {"local.embedded_aws.clients"},
    ("aggregator", "boto3"): {"aggregator.aws"},
    ("aggregator", "botocore"): {"aggregator.aws"},
    ("aggregator", "aws_lambda_powertools"): {"aggregator.runtime"},
}

# Libraries that a package must not know at all: they would cost an instance memory, or a function
# its cold start.
STRANGERS = {
    "emitter": {"aws_lambda_powertools", "jinja2", "rich", "textual"},
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


def imports_of_source(module: str, source: str, *, is_package: bool = False) -> list[Import]:
    """Every import in one module, also inside functions; relative ones made absolute."""
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Import):
            found += [Import(module, node.lineno, alias.name) for alias in node.names]
        elif isinstance(node, ast.ImportFrom):
            parts = module.split(".")
            up = node.level - is_package if node.level else len(parts)
            base = parts[: len(parts) - up] + ([node.module] if node.module else [])
            found += [Import(module, node.lineno, ".".join([*base, a.name])) for a in node.names]
        elif (
            isinstance(node, ast.Call)
            and isinstance(node.func, (ast.Name, ast.Attribute))
            and (getattr(node.func, "id", None) or getattr(node.func, "attr", None))
            in {"import_module", "__import__"}
            and node.args
            and isinstance(node.args[0], ast.Constant)
        ):
            found.append(Import(module, node.lineno, str(node.args[0].value)))
    return found


def imports_of_package(name: str, folder: Path) -> list[Import]:
    """Every import in one package of ours."""
    found = []
    for path in sorted(folder.rglob("*.py")):
        parts = [name, *path.relative_to(folder).with_suffix("").parts]
        is_package = parts[-1] == "__init__"
        module = ".".join(parts[:-1] if is_package else parts)
        source = path.read_text(encoding="utf-8")
        found += imports_of_source(module, source, is_package=is_package)
    return found


def forbidden_arrows(name: str, imports: list[Import]) -> list[Import]:
    """Imports of our other packages that the table does not allow."""
    allowed = ARROWS[name] | {name}
    ours = {*ARROWS, "tests"}
    return [found for found in imports if found.package in ours - allowed]


def outside_keeper(name: str, library: str, imports: list[Import]) -> list[Import]:
    """Imports of a big library outside the module that keeps it."""
    keepers = KEEPERS[name, library]
    return [found for found in imports if found.package == library and found.module not in keepers]


def beyond_standard_library(name: str, imports: list[Import]) -> list[Import]:
    """Imports that need more than Python."""
    known = sys.stdlib_module_names | {name}
    return [found for found in imports if found.package not in known]


def all_imports() -> list[Import]:
    """Every import in every package of ours."""
    return [one for name, folder in FOLDERS.items() for one in imports_of_package(name, folder)]


def circle(imports: list[Import]) -> list[str]:
    """Modules that import each other in a loop, each the next; none when there is no loop."""
    modules = {one.module for one in imports}
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


@pytest.mark.parametrize("name", FOLDERS)
def test_a_package_has_modules_to_check(name):
    """A package that moved must not make the tests below pass by finding nothing."""
    assert list(FOLDERS[name].rglob("*.py"))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_package_imports_only_those_of_ours_that_the_table_allows(name):
    """
    Emitter and aggregator never meet but in neuron_wire, and no emitter knows what people type.
    """
    assert [] == forbidden_arrows(name, imports_of_package(name, FOLDERS[name]))


def test_nothing_that_is_delivered_knows_what_is_beside_it():
    """The table itself gives no part of the product an arrow to the rehearsal or the proofs."""
    beside = ARROWS.keys() - PRODUCT
    assert set() == {name for name in PRODUCT if ARROWS[name] & beside}


def test_no_modules_import_each_other_in_a_circle():
    """Also not under TYPE_CHECKING, and not by way of a third."""
    assert [] == circle(all_imports())


def test_a_planted_circle_is_found():
    """By way of a third module, and by a name that is imported from one."""
    planted = [
        *imports_of_source("emitter.a", "from emitter import b"),
        *imports_of_source("emitter.b", "from emitter.c import Name"),
        *imports_of_source("emitter.c", "def later():\n    import emitter.a"),
    ]
    assert {"emitter.a", "emitter.b", "emitter.c"} == set(circle(planted))


def test_the_contract_needs_only_the_standard_library():
    """neuron_wire is in the wheel and in the functions' artefact: it must cost neither anything."""
    found = imports_of_package("neuron_wire", FOLDERS["neuron_wire"])
    assert [] == beyond_standard_library("neuron_wire", found)


@pytest.mark.parametrize(("name", "library"), KEEPERS)
def test_a_big_library_is_known_to_one_module(name, library):
    """Replacing the library, or surviving its next release, is a change in one file."""
    assert [] == outside_keeper(name, library, imports_of_package(name, FOLDERS[name]))


@pytest.mark.parametrize("name", STRANGERS)
def test_a_package_does_not_know_the_libraries_of_the_other_side(name):
    """An instance runs no Powertools, a function no aiohttp."""
    found = imports_of_package(name, FOLDERS[name])
    assert [] == [use for use in found if use.package in STRANGERS[name]]


@pytest.mark.parametrize(
    "source",
    [
        "import aggregator",
        "from aggregator.storage.table import Table",
        "def late():\n    import aggregator.close.function",
        "import importlib\nimportlib.import_module('aggregator.ingest.function')",
        "from neuron_emf import printing",
        "from typing import TYPE_CHECKING\nif TYPE_CHECKING:\n    from local import pump",
        "import tests.conftest",
    ],
)
def test_a_planted_arrow_is_found(source):
    """Also when it hides in a function, behind TYPE_CHECKING or in import_module."""
    assert forbidden_arrows("emitter", imports_of_source("emitter.planted", source))


@pytest.mark.parametrize(
    "source", ["import neuron_wire.line", "from . import spool", "import json"]
)
def test_an_allowed_arrow_is_not_found(source):
    """The contract, the package itself and the standard library are free."""
    assert [] == forbidden_arrows("emitter", imports_of_source("emitter.planted", source))


@pytest.mark.parametrize("source", ["import boto3", "from botocore.config import Config"])
def test_a_planted_library_is_found(source):
    """boto3 outside its keeper is found; inside it is not."""
    library = source.replace(".", " ").split()[1]
    planted = imports_of_source("emitter.planted", source)
    assert planted == outside_keeper("emitter", library, planted)
    assert [] == outside_keeper(
        "emitter", library, imports_of_source("emitter.delivery.cloudwatch_logs", source)
    )


def test_a_planted_dependency_of_the_contract_is_found():
    """A library in neuron_wire is found by what Python itself lists as its own."""
    planted = imports_of_source("neuron_wire.planted", "import json, msgspec")
    assert ["msgspec"] == [use.target for use in beyond_standard_library("neuron_wire", planted)]


@pytest.mark.parametrize(
    ("module", "is_package", "source", "expected"),
    [
        ("emitter.spool", False, "from . import batches", "emitter.batches"),
        ("emitter.spool", False, "from .batches import cut", "emitter.batches.cut"),
        ("emitter", True, "from .batches import cut", "emitter.batches.cut"),
        ("emitter.fold.cores", False, "from ..report import Report", "emitter.report.Report"),
    ],
)
def test_a_relative_import_is_read_as_python_reads_it(module, is_package, source, expected):
    """From a package one dot is the package itself, from a module its parent."""
    found = imports_of_source(module, source, is_package=is_package)
    assert [expected] == [use.target for use in found]
