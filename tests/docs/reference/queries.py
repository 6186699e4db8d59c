"""The saved queries, word for word."""

from __future__ import annotations

from local.alarms.template import Template
from tests.docs.reference.markdown import code, codes

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
    """Where it reads, what it is asked with, and its text, which begins with what it shows."""
    text = properties["QueryString"]
    groups = [GROUPS[one["Ref"]] for one in stated["LogGroupNames"]]
    lines = [
        f"## {properties['Name'].partition('/')[2]}\n",
        f"Log group: {' and '.join(groups)}.",
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
