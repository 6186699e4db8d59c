"""The members of a finding's event as its schema describes them, and an event of each idle kind."""

from __future__ import annotations

import json
from pathlib import Path

from neuron_wire.findings import SCHEMA_FILE
from tests.docs.reference.markdown import code, table

GOLDEN = Path(__file__).resolve().parents[2] / "data" / "findings" / "v1/story.events.jsonl"
SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))


def members():
    """A row for each member, and for each of a member's own."""
    return table(("Member", "Type", "Always", "What it is"), list(_rows(SCHEMA, "")))


def _rows(schema, before):
    for name, member in schema["properties"].items():
        is_required = "yes" if name in schema.get("required", ()) and not before else ""
        yield code(f"{before}{name}"), member["type"], is_required, member["description"]
        inner = member.get("items", member)
        if "properties" in inner:
            yield from _rows(inner, f"{before}{name}.")


def events():
    """The first golden event of each kind about what is idle."""
    lines = GOLDEN.read_text(encoding="utf-8").splitlines()
    first = {detail["Kind"]: detail for detail in map(json.loads, reversed(lines))}
    return "\n".join(
        f"{code(kind)}:\n\n```json\n{json.dumps(first[kind], indent=2)}\n```\n"
        for kind in ("idle-instance", "idle-owner")
    )
