"""
Whether a call of the AWS CLI could be made: by botocore's own models of the services.

`fault_of` says what is wrong with a call: no such service, operation, option or value. It
knows nothing of permissions, and nothing of what is there.

The words of the CLI are made of the models by the rules of
https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-parameters.html and
https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-shorthand.html; its own commands,
which no model has, are in `tests.docs.aws_words`.
"""

from __future__ import annotations

import functools
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import botocore.session
from botocore import xform_name
from botocore.exceptions import UnknownServiceError
from botocore.validate import ParamValidator
from botocore.waiter import WaiterModel

from tests.docs.aws_calls import ANSWER
from tests.docs.aws_shorthand import NUMBERS, read
from tests.docs.aws_words import ALONE, OWN, CallError, by_option, refuse, without_global_options

if TYPE_CHECKING:
    from botocore.model import OperationModel, Shape

Files = Mapping[str, "str | None"]
"""What `file://` finds, by name; None is a file whose content is not known before a step is run."""
SERVICES = {"s3api": "s3", "configservice": "config", "deploy": "codedeploy"}


def fault_of(call: list[str], files: Files) -> str | None:
    """What the CLI would refuse of a call, None when nothing; *files* is what `file://` finds."""
    try:
        check(call, files)
    except CallError as error:
        return f"aws {' '.join(call)}: {error}"
    return None


def check(call: list[str], files: Files) -> None:
    """
    Read a call as the CLI does, and validate it as the SDK does.

    Raises:
        CallError:
            If one of them would refuse it.
    """
    words = without_global_options(call)
    if len(words) < 2:
        refuse("expected a service and an operation")
    service, name, *rest = words
    if (service, name) in OWN:
        options, alone = OWN[service, name]
        given, standing = by_option(rest)
        unknown = sorted(set(given) - options)
        if unknown:
            refuse(f"no option {unknown[0]}")
        if standing > alone and not given:
            refuse(f"expected {alone} words that stand alone, found {standing}")
        return
    if name == "wait":
        name, rest = _operation_of_waiter(service, rest)
    operation = _operation(service, name)
    if any(files.get(word.removeprefix("file://"), "") is None for word in rest):
        _known_options(operation, rest)
        return
    _validate(operation, _parameters(operation, rest, ALONE.get((service, name), 0), files))


@functools.cache
def _session() -> botocore.session.Session:
    return botocore.session.Session()


@functools.cache
def _operations(service: str) -> dict[str, OperationModel]:
    try:
        model = _session().get_service_model(SERVICES.get(service, service))
    except UnknownServiceError:
        refuse(f"no service {service}")
    return {xform_name(name, "-"): model.operation_model(name) for name in model.operation_names}


def _operation(service: str, name: str) -> OperationModel:
    found = _operations(service).get(name)
    if found is None:
        refuse(f"{service} has no operation {name}")
    return found


def _operation_of_waiter(service: str, words: list[str]) -> tuple[str, list[str]]:
    document = (
        _session()
        .get_component("data_loader")
        .load_service_model(SERVICES.get(service, service), "waiters-2")
    )
    model = WaiterModel(document)
    names = {xform_name(name, "-"): name for name in model.waiter_names}
    if not words or words[0] not in names:
        refuse(f"{service} waits for nothing like {words[:1]}")
    return xform_name(model.get_waiter(names[words[0]]).operation, "-"), words[1:]


def _known_options(operation: OperationModel, words: list[str]) -> None:
    shape = operation.input_shape
    names = {f"--{xform_name(name, '-')}" for name in (shape.members if shape else ())}
    unknown = set(by_option(words)[0]) - names - {"--cli-input-json"}
    if unknown:
        refuse(f"no option {min(unknown)}")


def _parameters(
    operation: OperationModel, words: list[str], alone: int, files: Files
) -> dict[str, Any]:
    shape = operation.input_shape
    members = {} if shape is None else shape.members
    names = {f"--{xform_name(name, '-')}": name for name in members}
    given, standing = by_option(words)
    found = _input_document(given.pop("--cli-input-json", None), files)
    for option, values in given.items():
        name = names.get(option) or names.get(option.replace("--no-", "--", 1))
        if name is None:
            refuse(f"no option {option}")
        of = members[name]
        if of.type_name == "boolean":
            standing += len(values)
            found[name] = option in names
        elif not values:
            refuse(f"{option} has no value")
        else:
            many = of.type_name == "list"
            if not many:
                standing += len(values) - 1
            taken = values if many else values[:1]
            found[name] = _value(of, [_text(one, of, files) for one in taken])
    if standing != alone:
        refuse(f"expected {alone} words that belong to no option, found {standing}")
    return found


def _input_document(values: list[str] | None, files: Files) -> dict[str, Any]:
    """All parameters at once, as `--cli-input-json` takes them; options come on top."""
    if values is None:
        return {}
    text = values[0] if values else ""
    name = text.removeprefix("file://")
    if name != text and name not in files:
        refuse(f"{name} is no file of the page: put <!-- file: {name} --> before its block")
    try:
        found = json.loads(files.get(name) or text)
    except ValueError as error:
        refuse(f"--cli-input-json is no JSON: {error}")
    if not isinstance(found, dict):
        refuse("--cli-input-json is no object")
    return found


def _text(word: str, shape: Shape, files: Files) -> str:
    if not word.startswith(("file://", "fileb://")):
        return word
    name = word.partition("://")[2]
    if shape.type_name == "blob":
        return name
    if name not in files:
        refuse(f"{name} is no file of the page: put <!-- file: {name} --> before its block")
    return files[name] or ""


def _value(shape: Shape, texts: list[str]) -> Any:
    kind = shape.type_name
    if kind in ("structure", "map", "list"):
        if len(texts) == 1 and texts[0].lstrip().startswith(("{", "[")):
            try:
                return json.loads(texts[0])
            except ValueError as error:
                refuse(f"no JSON: {error}")
        if kind == "list":
            if shape.member.type_name in ("structure", "map"):
                return [read(text, shape.member) for text in texts]
            return [_value(shape.member, [text]) for text in texts]
        return read(texts[0], shape)
    if kind == "string" and texts[0].lstrip().startswith("{") and '"' in texts[0]:
        try:
            json.loads(texts[0])  # a policy, a template, a body of a dashboard
        except ValueError as error:
            refuse(f"a document that is no JSON: {error}")
    return plain(shape, texts[0])


def plain(shape: Shape, text: str) -> Any:
    """The value of one word."""
    if shape.type_name in NUMBERS:
        if text == ANSWER:
            return 1
        try:
            return NUMBERS[shape.type_name](text)
        except ValueError:
            refuse(f"expected a number, found {text}")
    return text


def is_known(service: str, name: str) -> bool:
    """Whether the CLI has an operation, whatever its options."""
    try:
        return (service, name) in OWN or bool(_operation(service, name))
    except CallError:
        return False


def _validate(operation: OperationModel, parameters: dict[str, Any]) -> None:
    shape = operation.input_shape
    if shape is None:
        return
    report = ParamValidator().validate(parameters, shape)
    if report.has_errors():
        raise CallError(report.generate_report())
    for path, value, allowed in not_allowed(shape, parameters, ""):
        refuse(f"{path}: expected one of {', '.join(allowed)}, found {value}")


def not_allowed(shape: Shape, value: Any, path: str) -> list[tuple[str, str, list[str]]]:
    """
    Strings that are none of those the model lists, and where they stand.

    The SDK leaves this to the service, so its validator does not see them.
    """
    if shape.type_name == "structure":
        pairs = [(shape.members[name], one, f"{path}.{name}") for name, one in value.items()]
    elif shape.type_name == "list":
        pairs = [(shape.member, one, f"{path}[{at}]") for at, one in enumerate(value)]
    elif shape.type_name == "map":
        pairs = [(shape.value, one, f"{path}.{name}") for name, one in value.items()]
    else:
        allowed = getattr(shape, "enum", [])
        wrong = allowed and value not in allowed and value != ANSWER
        return [(path, value, allowed)] if wrong else []
    return [found for one in pairs for found in not_allowed(*one)]
