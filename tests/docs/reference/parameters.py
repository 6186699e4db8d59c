"""The template's parameters by group, and its outputs."""

from __future__ import annotations

from tests.docs.reference.markdown import code, one_line, plain

INTERFACE = "AWS::CloudFormation::Interface"


def groups(template):
    """A heading and a list for each group that the console shows."""
    found = []
    for group in template["Metadata"][INTERFACE]["ParameterGroups"]:
        rows = [row(name, template["Parameters"][name]) for name in group["Parameters"]]
        found.append(f"### {group['Label']['default']}\n\n{''.join(rows)}")
    return "\n".join(found)


def row(name, stated):
    """One parameter: its name, its default, the prose of the console and its choices."""
    default = code(stated["Default"]) or "empty"
    return (
        f"- {code(name)} ({default}): {plain(one_line(stated['Description']))}{choices(stated)}\n"
    )


def choices(stated):
    """The values that it may be, where it names them."""
    if "AllowedValues" not in stated or {"true", "false"} == set(stated["AllowedValues"]):
        return ""
    return f" One of {', '.join(code(value) or 'empty' for value in stated['AllowedValues'])}."


THERE = {
    None: "",
    "HasStream": "with a stream",
    "HasChat": "with `Chat`",
    "HasLedger": "with the ledger",
    "HasDigest": "with the digest",
}


def outputs(template):
    """An item for each output."""
    rows = []
    for name, stated in template["Outputs"].items():
        notes = [THERE[stated.get("Condition")], exported(stated)]
        words = "; ".join(filter(None, notes))
        end = f" ({words})" if words else ""
        rows.append(f"- {code(name)}{end}: {one_line(stated['Description'])}\n")
    return "".join(rows)


def exported(stated):
    """The name that other stacks import it by, empty for none."""
    if "Export" not in stated:
        return ""
    return "exported as `STACK-" + stated["Export"]["Name"]["Fn::Sub"].partition("-")[2] + "`"
