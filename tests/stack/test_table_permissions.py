"""What each function's code asks of the table is what its role may do there."""

from __future__ import annotations

import ast

import pytest

from aggregator.storage.dynamodb import Requests
from aggregator.storage.table import Table
from aggregator.storage.values import CloseProgress, FindingsItem, Publication, RecordItem
from tests.stack.policy_statements import as_list, statements


class Recording:
    """A DynamoDB client that finds nothing and remembers what it was asked."""

    def __init__(self):
        self.operations = set()

    def __getattr__(self, name):
        def operation(**_request):
            self.operations.add("dynamodb:" + "".join(word.title() for word in name.split("_")))
            return {"Items": [], "Responses": {}}

        return operation


RECORD = RecordItem(minute=1, bucket=0, key="k", payload=b"", expires_s=1)
PUBLICATION = Publication(number=1, tallies={}, digest="", first_records=0)
CALLS = {
    "put_records": ([RECORD],),
    "put_markers": ([1], "token", 1),
    "read_markers": ([1],),
    "clear_marker": (1, "token"),
    "read_bucket": (1, 0),
    "take_lease": ("owner", 1.0, 2.0),
    "release_lease": ("owner",),
    "read_progress": (),
    "write_progress": (CloseProgress(next_minute=1, open_minutes=(), markers_from=1),),
    "read_publications": (1,),
    "write_publication": (1, "training", PUBLICATION, 1),
    "read_registry": (),
    "write_registry": (0, b""),
    "read_findings": (),
    "write_findings": ("00", FindingsItem(version=1, due=0, payload=b""), 1),
    "write_last_rollup": ("minute", "training", 1, "{}"),
    "read_last_rollup": ("minute", "training"),
    "read_published": ("training", [1]),
    "put_departure": ("i-0", 1, 1),
    "read_departures": (1, 2),
    "was_notified": ("transition",),
    "put_notified": ("transition", 1),
    "read_settled": (),
    "write_settled": (1,),
    "put_purchases": (1, 0, b"", 1),
    "read_purchases": (1, 0),
}


def operations(method):
    """What one method of the table asks of DynamoDB."""
    client = Recording()
    found = getattr(Table(Requests(client, "table")), method)(*CALLS[method])
    if hasattr(found, "__next__"):
        list(found)
    return client.operations


def reached(repository, module):
    """The modules of the aggregator that one of them imports, itself included."""
    left, found = {module}, {}
    while left:
        name = left.pop()
        path = repository / "lambda" / name.replace(".", "/")
        path = path / "__init__.py" if path.is_dir() else path.with_suffix(".py")
        if name in found or not path.is_file():
            continue
        found[name] = ast.parse(path.read_text(encoding="utf-8"))
        if name == "aggregator.runtime":
            continue  # the shape that ingest gives to lines is all it wants of intake
        for node in ast.walk(found[name]):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("aggregator"):
                left |= {node.module} | {f"{node.module}.{one.name}" for one in node.names}
    return found


def asked_of_the_table(repository, module):
    """The methods of the table that a handler's code calls."""
    return {
        node.attr
        for name, tree in reached(repository, module).items()
        if not name.startswith("aggregator.storage")
        for node in ast.walk(tree)
        if isinstance(node, ast.Attribute) and node.attr in CALLS
    }


def allowed_on_table(template, function):
    """The DynamoDB actions of a function's role."""
    return {
        action
        for name, statement in statements(template)
        if name == f"{function}Role"
        for action in as_list(statement["Action"])
        if action.startswith("dynamodb:")
    }


def test_every_method_of_the_table_is_known_here():
    """A new one comes into the list above."""
    public = {name for name in vars(Table) if not name.startswith("_")}
    assert CALLS.keys() == public - {"connect"}


@pytest.mark.parametrize("function", ["Ingest", "Close", "Settle", "Departure", "Explain"])
def test_a_role_may_do_what_its_function_asks_of_the_table(repository, template, function):
    """Every operation that its code needs, and no other."""
    methods = asked_of_the_table(repository, f"aggregator.{function.lower()}")
    assert methods
    needed = set().union(*(operations(method) for method in methods))
    assert needed == allowed_on_table(template, function)
