"""The template's parameters by group, and its outputs."""

from __future__ import annotations

from tests.docs.reference.markdown import code, one_line, plain, table

INTERFACE = "AWS::CloudFormation::Interface"


def groups(template):
    """A heading and a table for each group that the console shows."""
    found = []
    for group in template["Metadata"][INTERFACE]["ParameterGroups"]:
        rows = [row(name, template["Parameters"][name]) for name in group["Parameters"]]
        heads = ["parameter", "default", "what it is for"]
        found.append(f"### {group['Label']['default']}\n\n{table(heads, rows)}")
    return "\n".join(found)


def row(name, stated):
    """One parameter in three cells."""
    return [code(name), code(stated["Default"]) or "empty", f"{text_of(stated)}{values(stated)}"]


def text_of(stated):
    """Its description, the prose of the console."""
    return plain(one_line(stated["Description"]))


def values(stated):
    """What it may be where its description has no bounds: choices, or the words of its refusal."""
    if "AllowedValues" in stated:
        choices = (code(choice) or "empty" for choice in stated["AllowedValues"])
        return f" One of {', '.join(choices)}."
    if "ConstraintDescription" in stated and "MinValue" not in stated:
        return f" Value: {plain(one_line(stated['ConstraintDescription']))}."
    return ""


THERE = {
    None: "always",
    "HasStream": "with a stream",
    "HasChat": "with `Chat`",
    "HasLedger": "with the ledger",
    "HasDigest": "with the digest",
}


def outputs(template):
    """One row for each output."""
    rows = [
        [
            code(name),
            one_line(stated["Description"]),
            THERE[stated.get("Condition")],
            code(exported(stated)),
        ]
        for name, stated in template["Outputs"].items()
    ]
    return table(["output", "for whom", "there", "exported as"], rows)


def exported(stated):
    """The name that other stacks import it by."""
    if "Export" not in stated:
        return ""
    return stated["Export"]["Name"]["Fn::Sub"].replace("${AWS::StackName}", "STACK")
