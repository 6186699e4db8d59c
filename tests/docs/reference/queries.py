"""The saved queries, word for word."""

from __future__ import annotations

import re

from local.alarms.template import Template
from tests.docs.reference.markdown import code, codes
from tests.stack.insights.reading import kinds

QUERY = "AWS::Logs::QueryDefinition"
GROUPS = {
    "LogGroupName": "the emitters' lines",
    "RollupsLogGroup": "the rollups",
}


def sections(template):
    """One section for each query."""
    resolved = dict(Template(template).resources(QUERY))
    return "\n".join(
        section(properties, template["Resources"][name]["Properties"])
        for name, properties in resolved.items()
    )


def section(properties, stated):
    """What it shows, what it reads and is asked with, and its text."""
    text = properties["QueryString"]
    purpose = re.match(r"# (.+)\n", text)[1]
    groups = [GROUPS[one["Ref"]] for one in stated["LogGroupNames"]]
    read = " and ".join(sorted(kinds(text)))
    lines = [
        f"## {properties['Name'].partition('/')[2]}\n",
        f"{purpose}\n",
        f"It reads {read} lines in the log group of {' and in that of '.join(groups)}.",
    ]
    for one in properties.get("Parameters", []):
        asked = one["Description"].rstrip(".")
        lines.append(
            f"Asked with {code(one['Name'])}, by default {code(one['DefaultValue'])}: {asked}."
        )
    lines.append(f"\n```text\n{text.rstrip()}\n```\n")
    return "\n".join(lines)


def names(template):
    """The names without the stack's, in the template's order."""
    found = Template(template).resources(QUERY)
    return codes(properties["Name"].partition("/")[2] for _, properties in found)
