"""What the emitter names in an event is in the catalogue, whichever module names it."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from neuron_wire.catalogue import EVENT_NAMES, members_of

EMITTER = Path(__file__).resolve().parent.parent.parent / "emitter"
TOLD = EVENT_NAMES.keys() | members_of("event").keys() | members_of("minute").keys()
NAME = re.compile(r"[A-Z][a-z0-9]+([A-Z][a-z0-9]+)*")
COMPOUND = re.compile(r"[A-Z][a-z0-9]+([A-Z][a-z0-9]+)+")


def tells_of_events(tree):
    """Whether a module makes events: it imports the class when it runs, not for types alone."""
    return any(
        isinstance(node, ast.ImportFrom)
        and node.module == "emitter.events"
        and any(name.name == "Event" for name in node.names)
        for node in tree.body
    )


TREES = {
    path: tree
    for path in sorted(EMITTER.rglob("*.py"))
    if tells_of_events(tree := ast.parse(path.read_text(encoding="utf-8")))
}


def names_in(tree):
    """Texts that look like the name of an event, and keys that look like that of a member."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            if COMPOUND.fullmatch(node.value):
                yield node.value
        elif isinstance(node, ast.keyword) and node.arg and NAME.fullmatch(node.arg):
            yield node.arg
        elif isinstance(node, ast.Dict):
            for key in node.keys:
                if isinstance(key, ast.Constant) and NAME.fullmatch(str(key.value)):
                    yield key.value


@pytest.mark.parametrize("path", TREES, ids=lambda path: str(path.relative_to(EMITTER)))
def test_a_module_that_makes_events_names_what_is_described(path):
    """Names of events and of their members alike: what is written is on the page."""
    assert set() == set(names_in(TREES[path])) - TOLD


def test_each_event_of_the_catalogue_is_told_by_someone():
    """Whole, or as a name that is lengthened by `Cleared`."""
    told = {name for tree in TREES.values() for name in names_in(tree)}
    assert [] == [name for name in EVENT_NAMES if name.removesuffix("Cleared") not in told]
