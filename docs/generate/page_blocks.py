"""
The pages with generated blocks, and the function that generates each block.

A block is between `<!-- NAME -->` and `<!-- /NAME -->`. The output of commands on pages is not
generated here: the tests that run the commands write it.
"""

from __future__ import annotations

import json
import re
from functools import partial
from typing import TYPE_CHECKING, Any, Final

from benchmarks import figures
from docs.generate import (
    alarm_sections,
    architecture,
    bills,
    commands,
    events,
    metrics,
    parameters,
    setting_sections,
)
from docs.generate.markdown import code, codes
from local import REPOSITORY
from local.alarms.template import Template, load_template
from neuron_accounts.findings import SCHEMA_FILE
from neuron_emf.lint import LINT_ADVICE, LINT_ERRORS
from proof.real import run_record as real_record

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

LOADED_TEMPLATE: Final = load_template(REPOSITORY / "template.yaml")
NOT_GENERATED: Final = {
    *("ask", "release", "keep", "now", "run"),
    *("event", "reader", "rehearsed-bill", "supervisord"),
}
"""Blocks that commands print, and blocks that tests run unchanged."""

SCHEMA = json.loads(SCHEMA_FILE.read_text(encoding="utf-8"))
MESSAGES = REPOSITORY / "tests" / "data" / "messages" / "texts.txt"


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


BLOCK_MAKERS: Final[Mapping[str, Mapping[str, Callable[[], str]]]] = {
    "README.md": {"bills": bills.bills, "small-fleets": bills.small_fleets},
    "docs/how-to/restricted.md": {"rights": partial(parameters.rights, LOADED_TEMPLATE)},
    "docs/explanation/cost.md": {"month": bills.month, "figures": figures.table},
    "docs/explanation/exactness.md": {"line": architecture.line},
    "docs/reference/metrics.md": {
        **metrics.subject_lists(),
        "events-told": events.events_list,
    },
    "docs/reference/commands.md": {
        "commands": commands.sections,
        "lint-rules": lint_rules,
    },
    "docs/reference/settings.md": {
        name: partial(setting_sections.sections, group)
        for name, group in setting_sections.SETTING_GROUPS.items()
    },
    "docs/reference/looking.md": {
        "saved-queries": partial(saved_queries, LOADED_TEMPLATE),
    },
    "docs/how-to/prometheus.md": {
        name: partial(metrics.families, listed) for name, listed in metrics.SERIES.items()
    },
    "docs/operations.md": {
        "on-clusters": partial(alarm_sections.alarms_list, LOADED_TEMPLATE, on_clusters=True),
        "on-the-pipeline": partial(alarm_sections.alarms_list, LOADED_TEMPLATE, on_clusters=False),
        "faults": alarm_sections.faults_list,
    },
    "docs/reference/parameters.md": {
        "parameters": partial(parameters.groups, LOADED_TEMPLATE),
        "outputs": partial(parameters.outputs, LOADED_TEMPLATE),
    },
    "docs/how-to/acting.md": {"members": finding_members},
    "docs/how-to/notifications.md": {"sample": message},
    "docs/architecture.md": architecture.BLOCKS,
    "docs/reference/support.md": {"real-parts": real_record.page_list},
}
MARKED_BLOCK: Final = re.compile(r"<!-- ([a-z-]+) -->\n(\n?)(.*?)(\n?)<!-- /\1 -->", re.DOTALL)


def generated(page: str) -> str:
    """
    Return the text of *page* with each generated block made again.

    Raises:
        KeyError: If the page has a block that no function makes.
    """

    def made(found: re.Match[str]) -> str:
        name, before, _, after = found.groups()
        if name in NOT_GENERATED - BLOCK_MAKERS[page].keys():
            return found[0]
        block = BLOCK_MAKERS[page][name]().rstrip()
        return f"<!-- {name} -->\n{before}{block}\n{after and before}<!-- /{name} -->"

    return MARKED_BLOCK.sub(made, (REPOSITORY / page).read_text(encoding="utf-8"))
