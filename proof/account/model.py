"""
The form that an operation's model asks of a request, before anybody looks at what is in it.

Types, required members, lengths, bounds, patterns and enumerations are those of
the model that the SDK brings. boto3 itself looks at types, required members and
lower bounds; the rest reaches the service, which refuses it. Members of a request
that nothing of ours sends are not played, and refused with words that say so.
"""

from __future__ import annotations

import functools
import re
from typing import TYPE_CHECKING, Any

import botocore.session

from proof.logs.forms import NOT_PLAYED, NOT_READ, ServiceError, refuse_if

if TYPE_CHECKING:
    from collections.abc import Iterator

_TYPES = {"boolean": bool, "integer": int, "long": int, "string": str}


@functools.cache
def model_of(service: str) -> Any:
    """The SDK's model of a service, such as `logs`."""
    return botocore.session.get_session().get_service_model(service)


def check(operation: str, document: dict[str, Any], *played: str) -> None:
    """
    Look at the form of a request, whose members must be among those that are *played*.

    Raises:
        ServiceError: If it is not that of the model; all that is wrong is said at once.
    """
    others = document.keys() - {*played, "nextToken"}
    if others:
        raise ServiceError(NOT_PLAYED, f"{min(others)} is not played here", 501)
    shape = model_of("logs").operation_model(operation).input_shape
    refuse_if([*_broken(shape, document)])


def _broken(shape: Any, document: dict[str, Any]) -> Iterator[str]:
    for name, member in shape.members.items():
        found = document.get(name)
        if found is not None:
            expected = _TYPES[member.type_name]
            if not isinstance(found, expected) or (expected is int and isinstance(found, bool)):
                raise ServiceError(NOT_READ, f"{name}: expected a {member.type_name}")
            start = f"Value '{found}' at '{name}' failed to satisfy constraint: Member must"
            yield from (f"{start} {rule}" for rule in _rules(member, found))
        elif name in shape.required_members:
            yield f"Value null at '{name}' failed to satisfy constraint: Member must not be null"


def _rules(shape: Any, found: Any) -> Iterator[str]:
    """What the model asks of one value and it does not keep."""
    bounds = shape.metadata
    size = found if isinstance(found, int) else len(found)
    what = "value" if isinstance(found, int) else "length"
    if "min" in bounds and size < bounds["min"]:
        yield f"have {what} greater than or equal to {bounds['min']}"
    if "max" in bounds and size > bounds["max"]:
        yield f"have {what} less than or equal to {bounds['max']}"
    if "pattern" in bounds and not re.fullmatch(bounds["pattern"], found):
        yield f"satisfy regular expression pattern: {bounds['pattern']}"
    if "enum" in bounds and found not in bounds["enum"]:
        yield f"satisfy enum value set: [{', '.join(bounds['enum'])}]"
