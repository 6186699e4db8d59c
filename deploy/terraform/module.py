#!/usr/bin/env python3
"""
Rewrite variables.tf and outputs.tf in the folder of this program from the template.

    deploy/terraform/module.py

A variable is a parameter, with its default, its bounds and its words; an output is an
output. Patterns of texts stay with CloudFormation: Terraform's expressions are others.
"""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

TERRAFORM_FOLDER: Final = Path(__file__).resolve().parent
CLONE: Final = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(CLONE))

from local.alarms.template import load_template  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Mapping

LEFT_OUT: Final = frozenset({"Architecture"})
"""Parameters without a variable: a release's template lacks them."""

_OPENING: Final = "# Written by module.py of template.yaml: change that, and run this again.\n"
_SWITCH: Final = ["false", "true"]
_ACRONYMS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """Return Terraform's form of *name*: `idle_after_minutes` for `IdleAfterMinutes`."""
    return _ACRONYMS.sub("_", name).lower()


def variables(template: Mapping[str, Any]) -> str:
    """The file variables.tf."""
    declared = {
        name: parameter
        for name, parameter in template["Parameters"].items()
        if name not in LEFT_OUT
    }
    blocks = [_variable(name, parameter) for name, parameter in declared.items()]
    rows = [(name, _passed(name, parameter)) for name, parameter in declared.items()]
    width = max(len(name) for name, _ in rows)
    passed = "".join(f"    {name:{width}} = {value}\n" for name, value in rows)
    return "\n".join([_OPENING, *blocks, f"locals {{\n  parameters = {{\n{passed}  }}\n}}\n"])


def outputs(template: Mapping[str, Any]) -> str:
    """The file outputs.tf; an output that a stack may lack is null there."""
    blocks = [
        _block(
            f'output "{snake_case(name)}"',
            description=_text(output["Description"]),
            value=f'lookup(aws_cloudformation_stack.this.outputs, "{name}", null)'
            if "Condition" in output
            else f'aws_cloudformation_stack.this.outputs["{name}"]',
        )
        for name, output in template["Outputs"].items()
    ]
    return "\n".join([_OPENING, *blocks])


def _variable(name: str, declared: Mapping[str, Any]) -> str:
    kind = _kind(declared)
    default = declared["Default"]
    attributes = {
        "description": _text(" ".join(declared["Description"].split())),
        "type": kind,
        "default": _text(default) if kind == "string" else str(default),
        "nullable": "false",
    }
    head = f'variable "{snake_case(name)}"'
    rules = _rules(f"var.{snake_case(name)}", name, kind, declared)
    return _block(head, *rules, **attributes)


def _rules(value: str, name: str, kind: str, declared: Mapping[str, Any]) -> list[str]:
    """Return validations of values that CloudFormation would refuse an hour later."""
    if kind == "bool":
        return []
    if allowed := declared.get("AllowedValues"):
        listed = ", ".join(_text(choice) if kind == "string" else str(choice) for choice in allowed)
        said = ", ".join(str(choice) or "empty" for choice in allowed)
        return [_validation(f"contains([{listed}], {value})", f"{name} is one of {said}.")]
    if kind == "number":
        low, high = declared["MinValue"], declared["MaxValue"]
        return [
            _validation(
                f"{value} >= {low} && {value} <= {high}", f"{name} is from {low} to {high}."
            )
        ]
    return []


def _validation(condition: str, message: str) -> str:
    return (
        "  validation {\n"
        f"    condition     = {condition}\n"
        f"    error_message = {_text(message)}\n"
        "  }\n"
    )


def _block(head: str, *inner: str, **attributes: str) -> str:
    width = max(len(name) for name in attributes)
    rows = "".join(f"  {name:{width}} = {value}\n" for name, value in attributes.items())
    return f"{head} {{\n{rows}{''.join(f'{chr(10)}{block}' for block in inner)}}}\n"


def _kind(declared: Mapping[str, Any]) -> str:
    if sorted(map(str, declared.get("AllowedValues", ()))) == _SWITCH:
        return "bool"
    return "number" if declared["Type"] == "Number" else "string"


def _passed(name: str, declared: Mapping[str, Any]) -> str:
    value = f"var.{snake_case(name)}"
    return value if _kind(declared) == "string" else f"tostring({value})"


def _text(text: str) -> str:
    """A text of HCL, in which `${` and `%{` would begin an expression."""
    return json.dumps(text, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


def main() -> None:
    """Write both."""
    template = load_template(CLONE / "template.yaml")
    (TERRAFORM_FOLDER / "variables.tf").write_text(variables(template), "utf-8")
    (TERRAFORM_FOLDER / "outputs.tf").write_text(outputs(template), "utf-8")


if __name__ == "__main__":
    main()
