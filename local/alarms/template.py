"""
The parsed template, and its resources with the values of a deployment.

It supports the few CloudFormation functions that the template uses, without checking their use:
`sam validate` does that. Names of other resources come from the deployment, or stay as
`<LogicalId>`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import yaml

from neuron_emf.deploy.package import read_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_SUBSTITUTED: Final = re.compile(r"\$\{(!?)([A-Za-z0-9:._]+)\}")
_PSEUDO_PARAMETERS: Final = {
    "AWS::AccountId": "123456789012",
    "AWS::NoValue": None,
    "AWS::Partition": "aws",
    "AWS::Region": "us-east-1",
    "AWS::StackName": "neuron-emf",
    "AWS::StackId": "arn:aws:cloudformation:us-east-1:123456789012:stack/neuron-emf/0a1b2c3d-4e5f",
    "AWS::URLSuffix": "amazonaws.com",
}
_TEMPLATE_FUNCTIONS: Final[Mapping[str, Callable[[list[Any]], object]]] = {
    "And": all,
    "Equals": lambda terms: str(terms[0]) == str(terms[1]),
    "Join": lambda terms: terms[0].join(map(str, terms[1])),
    "Not": lambda terms: not terms[0],
    "Or": any,
    "Select": lambda terms: terms[1][int(terms[0])],
    "Split": lambda terms: str(terms[1]).split(terms[0]),
}


class AlarmDefinitionError(ValueError):
    """The evaluator or CloudWatch rejects a query: the state of its alarm is not guessed."""


class Template:
    """One template with values for its parameters."""

    def __init__(
        self,
        document: Mapping[str, Any],
        parameters: Mapping[str, str] | None = None,
        physical_ids: Mapping[str, str] | None = None,
    ) -> None:
        """Take *parameters* instead of defaults; *physical_ids* name deployed resources."""
        self._document = document
        declared = document.get("Parameters", {}).items()
        self._values: dict[str, Any] = {
            **_PSEUDO_PARAMETERS,
            **{name: f"<{name}>" for name in document.get("Resources", {})},
            **(physical_ids or {}),
            **{name: str(value["Default"]) for name, value in declared if "Default" in value},
            **(parameters or {}),
        }

    def resources(self, resource_type: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """
        Yield logical ID and resolved properties of every resource of one type.

        Resources whose condition is false do not exist.
        """
        for logical_id, resource in self._document.get("Resources", {}).items():
            if resource.get("Type") == resource_type and (
                "Condition" not in resource or self.condition(resource["Condition"])
            ):
                yield logical_id, self.resolve(resource.get("Properties", {}))

    def condition(self, name: str) -> bool:
        """Return True if the condition *name* holds."""
        return bool(self.resolve(self._document["Conditions"][name]))

    def resolve(self, value: Any) -> Any:  # noqa: ANN401  # templates are JSON
        """Return *value* with every function replaced by its result; None for AWS::NoValue."""
        if isinstance(value, list):
            return [item for item in map(self.resolve, value) if item is not None]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            ((name, argument),) = value.items()
            if name in {"Ref", "Condition"} or name.startswith("Fn::"):
                return self._call(name.removeprefix("Fn::"), argument)
        members = {name: self.resolve(member) for name, member in value.items()}
        return {name: member for name, member in members.items() if member is not None}

    def _call(self, function: str, argument: Any) -> Any:  # noqa: ANN401  # one each
        if function in {"Ref", "Condition"}:
            return self._values[argument] if function == "Ref" else self.condition(argument)
        if function == "If":
            return self.resolve(argument[1 if self.condition(argument[0]) else 2])
        if function == "FindInMap":
            name, first, second = argument
            return self._document["Mappings"][name][first][second]
        if function == "GetAtt":
            return f"<{argument if isinstance(argument, str) else '.'.join(argument)}>"
        if function == "Sub":
            text, values = (argument, {}) if isinstance(argument, str) else argument
            return _SUBSTITUTED.sub(lambda match: self._substituted(match, values), text)
        return _TEMPLATE_FUNCTIONS[function](self.resolve(argument))

    def _substituted(self, match: re.Match[str], values: Mapping[str, Any]) -> str:
        is_literal, name = match.groups()
        if is_literal:
            return f"${{{name}}}"
        if name in values:
            return str(self.resolve(values[name]))
        return f"<{name}>" if "." in name else str(self._values[name])


def load_template(path: Path) -> dict[str, Any]:
    """Return the template at *path* with the resources that it includes."""
    return load(read_template(path))


def load(text: str) -> dict[str, Any]:
    """Parse a template in YAML, including short function forms (`!Ref`)."""
    document: dict[str, Any] = yaml.load(text, Loader=_TemplateLoader)  # noqa: S506  # a SafeLoader below
    return document


class _TemplateLoader(yaml.SafeLoader):
    pass


def _short_form(loader: _TemplateLoader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    else:
        value = loader.construct_scalar(node)  # type: ignore[arg-type]  # what is left
    return {suffix if suffix in {"Ref", "Condition"} else f"Fn::{suffix}": value}


_TemplateLoader.add_multi_constructor("!", _short_form)
