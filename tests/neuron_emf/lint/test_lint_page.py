"""
The page about lint says what lint says.

What stands between its markers is written by `--update-golden`, and read in review.
"""

from __future__ import annotations

import json
import re

import pytest
from click.testing import CliRunner

from neuron_emf.cli import cli
from neuron_emf.lint import ADVICE, ERRORS
from tests.neuron_emf.lint.linted import DIRECTIVE, METRIC, changed, document

UNIT = changed((*METRIC, "Unit"), "ms")
REQUEST = {**changed((*DIRECTIVE, "Dimensions"), [["RequestId"]]), "RequestId": "7"}
WRAPPED = {"message": '{"_aws":{"Timestamp":1790000000000},"Latency":12.5}'}
LINES = [
    json.dumps(one, separators=(",", ":"))
    for one in (document(), UNIT, WRAPPED, {"message": "order 7 paid"}, REQUEST)
]


def fenced(text):
    """A block of text as it is."""
    return f"```\n{text.rstrip()}\n```\n"


def example(folder):
    """What lint says of the lines of the page."""
    path = folder / "lines.jsonl"
    path.write_text("".join(f"{line}\n" for line in LINES), "utf-8")
    said = CliRunner().invoke(cli, ["lint", str(path), "--no-age"], standalone_mode=False).output
    return said.replace(str(path), "lines.jsonl")


def rules():
    """Every rule, errors first."""
    rows = [f"* `{name}`: {advice}\n" for name, advice in ADVICE.items()]
    return "".join(["Errors:\n\n", *rows[: len(ERRORS)], "\nWarnings:\n\n", *rows[len(ERRORS) :]])


@pytest.mark.parametrize("name", ["lint-lines", "lint-example", "lint-rules"])
def test_the_page_shows_what_lint_says(repository, marked, tmp_path, name):
    """The lines, what is said of them, and every rule."""
    expected = {
        "lint-lines": fenced("\n".join(LINES)),
        "lint-example": fenced(example(tmp_path)),
        "lint-rules": rules(),
    }[name]
    marked(repository / "docs" / "reference" / "lint.md", name, expected)


def test_every_rule_that_is_found_has_its_advice(repository):
    """And every advice is of a rule that is found somewhere."""
    sources = [
        *(repository / "lambda" / "neuron_wire" / "extraction").glob("*.py"),
        *(repository / "neuron_emf" / "lint").glob("*.py"),
    ]
    found = {
        name
        for path in sources
        for name in re.findall(r'Violation\(\s*"([a-z_]+)"', path.read_text(encoding="utf-8"))
    }
    assert ADVICE.keys() == found
