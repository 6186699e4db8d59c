"""
A CloudFormation template with its functions resolved, as far as alarms need it.

Pure. Knows Ref, Sub, If, Equals, Not, And, Or, Join, Split, GetAtt and conditions, as
https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/intrinsic-function-reference.html
describes them, and refuses the rest. What only a deployment knows (names of
other resources) is taken from the deployment or stays as `<LogicalId>`.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any, Final

import yaml

from local.alarms.errors import AlarmDefinitionError
from neuron_emf.deploy.package import read_template

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping
    from pathlib import Path

_NO_VALUE: Final = object()
_SHORT_WITHOUT_FN: Final = frozenset({"Ref", "Condition"})
_SUBSTITUTED: Final = re.compile(r"\$\{(!?)([A-Za-z0-9:._]+)\}")
_PSEUDO_PARAMETERS: Final = {
    "AWS::AccountId": "000000000000", "AWS::NotificationARNs": "", "AWS::Partition": "aws",
    "AWS::Region": "us-east-1", "AWS::StackId": "<AWS::StackId>", "AWS::StackName": "neuron-emf",
    "AWS::URLSuffix": "amazonaws.com",
}  # fmt: skip


class Template:
    """One template with values for its parameters."""

    def __init__(
        self,
        document: Mapping[str, Any],
        parameters: Mapping[str, str] | None = None,
        physical_ids: Mapping[str, str] | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> None:
        """
        *parameters* replace defaults; *physical_ids* name deployed resources.

        *attributes* are theirs, by `LogicalId.Attribute`.

        Raises:
            AlarmDefinitionError: If a parameter is unknown or has no value.
        """
        self._document = document
        self._physical_ids = dict(physical_ids or {})
        self._attributes = dict(attributes or {})
        self._values = dict(_PSEUDO_PARAMETERS)
        declared = document.get("Parameters", {})
        unknown = sorted((parameters or {}).keys() - declared.keys() - _PSEUDO_PARAMETERS.keys())
        if unknown:
            msg = f"the template has no parameter {unknown[0]}"
            raise AlarmDefinitionError(msg)
        for name, declaration in declared.items():
            if "Default" in declaration:
                self._values[name] = str(declaration["Default"])
        self._values.update(parameters or {})
        without = sorted(declared.keys() - self._values.keys())
        if without:
            msg = f"the template's parameter {without[0]} has no default and was given no value"
            raise AlarmDefinitionError(msg)

    @classmethod
    def read(
        cls,
        path: Path,
        parameters: Mapping[str, str] | None = None,
        physical_ids: Mapping[str, str] | None = None,
        attributes: Mapping[str, str] | None = None,
    ) -> Template:
        """Read the template at *path*."""
        return cls(load_template(path), parameters, physical_ids, attributes)

    def resources(self, resource_type: str) -> Iterator[tuple[str, dict[str, Any]]]:
        """
        Logical id and resolved properties of every resource of one type.

        Resources whose condition is false do not exist.
        """
        for logical_id, resource in self._document.get("Resources", {}).items():
            if resource.get("Type") != resource_type:
                continue
            if "Condition" in resource and not self.condition(resource["Condition"]):
                continue
            yield logical_id, self.resolve(resource.get("Properties", {}))

    def condition(self, name: str) -> bool:
        """
        Whether the condition *name* holds.

        Raises:
            AlarmDefinitionError: If the template has no such condition.
        """
        try:
            stated = self._document["Conditions"][name]
        except KeyError:
            msg = f"the template has no condition {name}"
            raise AlarmDefinitionError(msg) from None
        return bool(self.resolve(stated))

    def resolve(self, value: Any) -> Any:  # noqa: ANN401  # templates are JSON
        """*value* with every function in it replaced by its result."""
        found = self._resolve(value)
        return None if found is _NO_VALUE else found

    def _resolve(self, value: Any) -> Any:  # noqa: ANN401
        if isinstance(value, list):
            resolved = [self._resolve(one) for one in value]
            return [one for one in resolved if one is not _NO_VALUE]
        if not isinstance(value, dict):
            return value
        if len(value) == 1:
            name, argument = next(iter(value.items()))
            if name in {"Ref", "Condition"} or name.startswith("Fn::"):
                return self._call(name, argument)
        members = {name: self._resolve(one) for name, one in value.items()}
        return {name: one for name, one in members.items() if one is not _NO_VALUE}

    def _call(self, function: str, argument: Any) -> Any:  # noqa: ANN401
        functions: dict[str, Callable[[Any], Any]] = {
            "Condition": self.condition,
            "Fn::And": lambda terms: all(self._resolve(term) for term in terms),
            "Fn::Equals": lambda pair: str(self._resolve(pair[0])) == str(self._resolve(pair[1])),
            "Fn::GetAtt": self._attribute,
            "Fn::If": self._if,
            "Fn::Join": lambda parts: parts[0].join(str(one) for one in self._resolve(parts[1])),
            "Fn::Not": lambda terms: not self._resolve(terms[0]),
            "Fn::Split": lambda parts: str(self._resolve(parts[1])).split(parts[0]),
            "Fn::Or": lambda terms: any(self._resolve(term) for term in terms),
            "Fn::Sub": self._sub,
            "Ref": self._ref,
        }
        if function not in functions:
            msg = f"the evaluator does not know the template function {function}"
            raise AlarmDefinitionError(msg)
        return functions[function](argument)

    def _if(self, argument: list[Any]) -> Any:  # noqa: ANN401
        condition, then, otherwise = argument
        return self._resolve(then if self.condition(condition) else otherwise)

    def _ref(self, name: str) -> Any:  # noqa: ANN401
        if name == "AWS::NoValue":
            return _NO_VALUE
        if name in self._values:
            return self._values[name]
        if name in self._document.get("Resources", {}):
            return self._physical_ids.get(name, f"<{name}>")
        msg = f"the template refers to {name}, which is neither a parameter nor a resource"
        raise AlarmDefinitionError(msg)

    def _attribute(self, argument: str | list[str]) -> str:
        path = argument if isinstance(argument, str) else ".".join(argument)
        return self._attributes.get(path, f"<{path}>")

    def _sub(self, argument: str | list[Any]) -> str:
        text, local_values = (argument, {}) if isinstance(argument, str) else argument

        def replacement(match: re.Match[str]) -> str:
            literal, name = match.groups()
            if literal:
                return f"${{{name}}}"
            if name in local_values:
                return str(self._resolve(local_values[name]))
            return self._attribute(name) if "." in name else str(self._ref(name))

        return _SUBSTITUTED.sub(replacement, text)


def load_template(path: Path) -> dict[str, Any]:
    """
    The template at *path* with the resources that it includes.

    Raises:
        AlarmDefinitionError: If it is no YAML mapping.
    """
    return load(read_template(path))


def load(text: str) -> dict[str, Any]:
    """
    Read a template in YAML, its short function forms (`!Ref`) included.

    Raises:
        AlarmDefinitionError: If *text* is no YAML mapping.
    """
    try:
        document = yaml.load(text, Loader=_Loader)  # noqa: S506  # a SafeLoader below
    except yaml.YAMLError as error:
        msg = f"the template is not YAML: {error}"
        raise AlarmDefinitionError(msg) from error
    if not isinstance(document, dict):
        msg = "the template is YAML but no mapping"
        raise AlarmDefinitionError(msg)
    return document


class _Loader(yaml.SafeLoader):
    pass


def _short_form(loader: _Loader, suffix: str, node: yaml.Node) -> dict[str, Any]:
    value: Any
    if isinstance(node, yaml.ScalarNode):
        value = loader.construct_scalar(node)
    elif isinstance(node, yaml.SequenceNode):
        value = loader.construct_sequence(node, deep=True)
    elif isinstance(node, yaml.MappingNode):
        value = loader.construct_mapping(node, deep=True)
    else:
        msg = f"the template function !{suffix} has no argument"
        raise AlarmDefinitionError(msg)
    return {suffix if suffix in _SHORT_WITHOUT_FN else f"Fn::{suffix}": value}


_Loader.add_multi_constructor("!", _short_form)
