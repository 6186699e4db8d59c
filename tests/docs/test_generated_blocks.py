"""
What stands between markers of a page is what the code and the template say.

`--update-golden` writes it again, and the difference is read in review.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from benchmarks import bills, record
from local.alarms.template import load
from neuron_emf.cli import COMMANDS
from neuron_emf.deploy.package import read_template
from neuron_wire.catalogue import MEMBERS
from proof.real import record as real_record
from tests.docs.reference import (
    alarms,
    architecture,
    commands,
    events,
    findings,
    metrics,
    parameters,
    settings,
)

ROOT = Path(__file__).parents[2]
TEXT = read_template(ROOT / "template.yaml")
TEMPLATE = load(TEXT)
OF_OTHER_TESTS = {"ask", "release", "keep", "lint-rules", "now", "run", "supervisord"}
"""What programs print or read; the test beside each of them writes it."""

MAKERS = {
    "README.md": {
        "bills": lambda: f"{bills.bills()}\n",
        "small-fleets": bills.small_fleets,
    },
    "docs/how-to/restricted.md": {"rights": lambda: parameters.rights(TEMPLATE)},
    "docs/explanation/cost.md": {"month": bills.month, "figures": record.table},
    "docs/reference/metrics.md": {
        **metrics.subject_lists(),
        "events-told": events.events_list,
    },
    "docs/reference/commands.md": {"commands": commands.sections},
    "docs/reference/settings.md": {
        name: lambda group=group: settings.sections(group)
        for name, group in settings.GROUPS.items()
    },
    "docs/how-to/prometheus.md": {
        name: lambda listed=listed: metrics.families(listed)
        for name, listed in metrics.SERIES.items()
    },
    "docs/operations.md": {
        "on-clusters": lambda: alarms.alarms_list(TEMPLATE, on_clusters=True),
        "on-the-pipeline": lambda: alarms.alarms_list(TEMPLATE, on_clusters=False),
        "faults": alarms.faults_list,
    },
    "docs/reference/parameters.md": {
        "parameters": lambda: parameters.groups(TEMPLATE),
        "outputs": lambda: parameters.outputs(TEMPLATE),
    },
    "docs/how-to/acting.md": {"members": findings.members},
    "docs/architecture.md": architecture.BLOCKS,
    "docs/reference/support.md": {"real-parts": real_record.page_list},
}
MARKED = re.compile(r"<!-- ([a-z-]+) -->\n(\n?)(.*?)(\n?)<!-- /\1 -->", re.DOTALL)


@pytest.mark.parametrize("page", MAKERS)
def test_what_stands_between_markers_is_what_the_code_says(page, golden):
    """Nothing between markers is written by hand."""
    text = (ROOT / page).read_text(encoding="utf-8")

    def made(found):
        name, before, _, after = found.groups()
        if name in OF_OTHER_TESTS - MAKERS[page].keys():
            return found[0]
        assert name in MAKERS[page], f"{page} has a block {name} that nobody makes"
        block = MAKERS[page][name]().rstrip()
        return f"<!-- {name} -->\n{before}{block}\n{after and before}<!-- /{name} -->"

    golden(ROOT / page, MARKED.sub(made, text))


def text_of(page):
    """A page of reference."""
    return (ROOT / "docs" / "reference" / f"{page}.md").read_text(encoding="utf-8")


@pytest.mark.parametrize(
    ("page", "row", "names"),
    [
        ("metrics", "`{}`", {member.name for member in MEMBERS}),
        ("parameters", "\n- `{}`", {*TEMPLATE["Parameters"], *TEMPLATE["Outputs"]}),
        ("commands", "`neuron-emf {}", COMMANDS),
    ],
)
def test_everything_that_there_is_is_on_its_page(page, row, names):
    """Also a name that no group, family or condition has."""
    assert [] == sorted(name for name in names if row.format(name) not in text_of(page))
