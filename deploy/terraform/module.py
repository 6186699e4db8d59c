#!/usr/bin/env python3
"""
Generate variables.tf and outputs.tf, next to this program, from template.yaml.

    deploy/terraform/module.py

Each parameter becomes a variable with its default, bounds and description. Each output becomes an
output. Only CloudFormation checks AllowedPattern, because Terraform's regular expressions have
another syntax.
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

EXCLUDED_PARAMETERS: Final = frozenset({"Architecture"})
"""Parameters without a variable, because the template of a release does not have them."""

_OPENING: Final = (
    "# Generated from template.yaml. To change it, edit template.yaml and run module.py.\n"
)
_SWITCH: Final = ["false", "true"]
_ACRONYMS: Final = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def snake_case(name: str) -> str:
    """Return Terraform's form of *name*: `idle_after_minutes` for `IdleAfterMinutes`."""
    return _ACRONYMS.sub("_", name).lower()


def variables(template: Mapping[str, Any]) -> str:
    """Return the text of variables.tf for *template*."""
    declared = {
        name: parameter
        for name, parameter in template["Parameters"].items()
        if name not in EXCLUDED_PARAMETERS
    }
    blocks = [_variable(name, parameter) for name, parameter in declared.items()]
    rows = [(name, _passed(name, parameter)) for name, parameter in declared.items()]
    width = max(len(name) for name, _ in rows)
    passed = "".join(f"    {name:{width}} = {value}\n" for name, value in rows)
    return "\n".join([_OPENING, *blocks, f"locals {{\n  parameters = {{\n{passed}  }}\n}}\n"])


def outputs(template: Mapping[str, Any]) -> str:
    """Return the text of outputs.tf for *template*. An output that the stack lacks is null."""
    blocks = [_output(name, declared) for name, declared in template["Outputs"].items()]
    return "\n".join([_OPENING, *blocks])


def _output(name: str, declared: Mapping[str, Any]) -> str:
    """Return the block of output *name*."""
    value = f'aws_cloudformation_stack.this.outputs["{name}"]'
    if "Condition" in declared:
        value = f'lookup(aws_cloudformation_stack.this.outputs, "{name}", null)'
    return _block(
        f'output "{snake_case(name)}"',
        description=_literal(declared["Description"]),
        value=value,
    )


def _variable(name: str, declared: Mapping[str, Any]) -> str:
    """Return the block of the variable for parameter *name*."""
    hcl_type = _hcl_type(declared)
    default = str(declared["Default"])
    if hcl_type == "string":
        default = _literal(default)
    return _block(
        f'variable "{snake_case(name)}"',
        *_validations(name, declared),
        description=_literal(" ".join(declared["Description"].split())),
        type=hcl_type,
        default=default,
        nullable="false",
    )


def _validations(name: str, declared: Mapping[str, Any]) -> list[str]:
    """Return validation blocks for values that CloudFormation would refuse only in a deployment."""
    value = f"var.{snake_case(name)}"
    hcl_type = _hcl_type(declared)
    if hcl_type == "bool":
        return []
    if "AllowedValues" in declared:
        allowed = declared["AllowedValues"]
        literals = ", ".join(map(_literal, allowed))
        choices = ", ".join(str(choice) or "empty" for choice in allowed)
        return [
            _validation(f"contains([{literals}], {value})", f"{name} must be one of {choices}.")
        ]
    if hcl_type == "number":
        low = declared["MinValue"]
        high = declared["MaxValue"]
        condition = f"{value} >= {low} && {value} <= {high}"
        return [_validation(condition, f"{name} must be from {low} to {high}.")]
    return []


def _validation(condition: str, message: str) -> str:
    """Return a validation block whose error is *message*. Terraform shows the value next to it."""
    return (
        "  validation {\n"
        f"    condition     = {condition}\n"
        f"    error_message = {_literal(message)}\n"
        "  }\n"
    )


def _block(head: str, *inner: str, **attributes: str) -> str:
    """Return a block with *attributes*, aligned as `terraform fmt` does, and the blocks *inner*."""
    width = max(len(name) for name in attributes)
    rows = "".join(f"  {name:{width}} = {value}\n" for name, value in attributes.items())
    blocks = "".join(f"\n{block}" for block in inner)
    return f"{head} {{\n{rows}{blocks}}}\n"


def _hcl_type(declared: Mapping[str, Any]) -> str:
    """Return Terraform's type of a parameter: `bool`, `number` or `string`."""
    if sorted(map(str, declared.get("AllowedValues", ()))) == _SWITCH:
        return "bool"
    return "number" if declared["Type"] == "Number" else "string"


def _passed(name: str, declared: Mapping[str, Any]) -> str:
    """Return the expression of the parameter's text, which CloudFormation needs for each type."""
    value = f"var.{snake_case(name)}"
    return value if _hcl_type(declared) == "string" else f"tostring({value})"


def _literal(value: str | int) -> str:
    """Return *value* in HCL, with `${` and `%{` escaped, which would begin an expression."""
    return json.dumps(value, ensure_ascii=False).replace("${", "$${").replace("%{", "%%{")


def main() -> None:
    """Write variables.tf and outputs.tf."""
    template = load_template(CLONE / "template.yaml")
    (TERRAFORM_FOLDER / "variables.tf").write_text(variables(template), "utf-8")
    (TERRAFORM_FOLDER / "outputs.tf").write_text(outputs(template), "utf-8")


if __name__ == "__main__":
    main()
