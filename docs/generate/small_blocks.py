"""Make the short blocks: members of a finding, rules of lint, saved queries, a message."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

from docs.generate.markdown import code, codes
from local.alarms.template import Template
from neuron_accounts.findings import SCHEMA_FILE
from neuron_emf.lint import LINT_ADVICE, LINT_ERRORS

if TYPE_CHECKING:
    from collections.abc import Mapping

SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
MESSAGES = Path(__file__).parents[2] / "tests" / "data" / "messages" / "texts.txt"


def finding_members() -> str:
    """Return the members that each finding's event has, and those that some have."""
    always = SCHEMA["required"]
    others = [name for name in SCHEMA["properties"] if name not in always]
    return f"Each finding has {codes(always)}. Some have {codes(others)}.\n"


def lint_rules() -> str:
    """Return the names of the rules of `neuron-emf lint`."""
    warnings = [rule for rule in LINT_ADVICE if rule not in LINT_ERRORS]
    return f"Errors: {codes(LINT_ERRORS)}.\nWarnings: {codes(warnings)}.\n"


def saved_queries(template: Mapping[str, Any]) -> str:
    """Return an item for each saved query, with the purpose on the first line of its text."""
    items = []
    for _, query in Template(template).resources("AWS::Logs::QueryDefinition"):
        purpose = re.sub(r"^# (.+)\n[\s\S]*", r"\1", query["QueryString"])
        items.append(f"- {code(query['Name'].partition('/')[2])}: {purpose}\n")
    return "".join(items)


def message() -> str:
    """Return the text of a message of `explain`, without its subject."""
    _, _, scene = MESSAGES.read_text(encoding="utf-8").partition("=== idle-cores\n")
    _, _, text = scene.partition("\n===")[0].partition("\n\n")
    return f"```\n{text}\n```\n"
