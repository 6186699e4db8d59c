"""
Tags: members that the operator adds to every line, and may have metrics counted by.

A tag stands at the root of the line beside the members of the contract, so it
must not have the name of one of them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError
from emitter.lines.legacy import COMMON_DIMS, METRIC_NAME
from neuron_wire.catalogue import TAKEN
from neuron_wire.extraction import MAX_DIMENSION_NAME_CHARS, MAX_DIMENSION_VALUE_CHARS

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

MAX_TAGS: Final = 50  # as many as one EC2 resource may have
_SHOWN_CHARS: Final = 40


def parse_tags(texts: Iterable[str]) -> dict[str, str]:
    """
    The tags that *texts* say, each of them KEY=VALUE.

    Raises:
        SettingsError: If one has no key or no value, or a key is given twice.
    """
    tags: dict[str, str] = {}
    for text in texts:
        name, separator, value = text.partition("=")
        name, value = name.strip(), value.strip()
        if not (separator and name and value):
            msg = f"Invalid --tag {_shown(text)}. Use KEY=VALUE, such as team=search."
            raise SettingsError(msg)
        if tags.setdefault(name, value) != value:
            msg = f"Tag {_shown(name)} has two values. Keep one --tag."
            raise SettingsError(msg)
    return tags


def check_tags(tags: Mapping[str, str], tag_dimensions: Iterable[str] = ()) -> None:
    """
    Refuse tags that would damage a line, or that CloudWatch cannot count by.

    Raises:
        SettingsError: If a name is taken or too long, a value is too long, or a
            dimension is no tag or holds what no dimension may.
    """
    if len(tags) > MAX_TAGS:
        msg = f"Too many tags: {len(tags)}, maximum {MAX_TAGS}. Omit some."
        raise SettingsError(msg)
    for name, value in tags.items():
        _check_tag(name, value)
    for name in tag_dimensions:
        if name not in tags:
            msg = (
                f"--tag-dimension {_shown(name)} is not the key of a tag. Add --tag "
                f"{name[:_SHOWN_CHARS]}=VALUE."
            )
            raise SettingsError(msg)
        _check_dimension(name, tags[name])


def _check_tag(name: str, value: str) -> None:
    if name in TAKEN or name in COMMON_DIMS or METRIC_NAME.fullmatch(name):
        msg = f"Tag key {_shown(name)} is already a member of the lines. Use another key."
        raise SettingsError(msg)
    if not (name.strip() and name.isprintable() and len(name) <= MAX_DIMENSION_NAME_CHARS):
        msg = (
            f"Invalid tag key {_shown(name)}. Use 1 to {MAX_DIMENSION_NAME_CHARS} "
            "printable characters."
        )
        raise SettingsError(msg)
    if not (value.strip() and value.isprintable() and len(value) <= MAX_DIMENSION_VALUE_CHARS):
        msg = (
            f"Tag {_shown(name)} has an invalid value: {_shown(value)}. Use 1 to "
            f"{MAX_DIMENSION_VALUE_CHARS} printable characters."
        )
        raise SettingsError(msg)


def _check_dimension(name: str, value: str) -> None:
    if name.startswith(":") or not name.isascii() or not value.isascii():
        msg = (
            f"Tag {_shown(name)} cannot be a CloudWatch dimension, which is printable "
            "ASCII and does not begin with a colon. Use another key or value, or "
            "omit it from --tag-dimension."
        )
        raise SettingsError(msg)


def _shown(text: str) -> str:
    return ascii(text[:_SHOWN_CHARS])
