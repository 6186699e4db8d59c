"""The schemas of what commands print with --json; each command's own test holds answers to them."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

SCHEMAS = sorted((Path(__file__).parents[2] / "neuron_emf" / "schemas").glob("*.json"))


def objects(schema):
    """Each object that a schema describes by its members."""
    if isinstance(schema, dict):
        if "properties" in schema and schema.get("type") == "object":
            yield schema
        schema = list(schema.values())
    if isinstance(schema, list):
        for one in schema:
            yield from objects(one)


@pytest.mark.parametrize("path", SCHEMAS, ids=lambda path: path.stem)
def test_a_schema_is_closed_and_says_what_each_member_is(path):
    """Draft 2020-12; a member that a later release adds must be added here."""
    schema = json.loads(path.read_text(encoding="utf-8"))
    assert "https://json-schema.org/draft/2020-12/schema" == schema["$schema"]
    for one in objects(schema):
        assert one["additionalProperties"] is False
        assert set(one["required"]) <= one["properties"].keys()
        assert [] == [name for name, member in one["properties"].items()
                      if "description" not in member]  # fmt: skip


def test_every_schema_is_one(program_of):
    """By the draft's own schema."""
    program = program_of(".venv-tools", "check-jsonschema")
    done = subprocess.run(
        [program, "--check-metaschema", *SCHEMAS], capture_output=True, text=True, check=False
    )
    assert 0 == done.returncode, done.stdout
