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
            msg = (
                f"a tag was expected as KEY=VALUE, such as team=search, and is {_shown(text)}: "
                "change --tag"
            )
            raise SettingsError(msg)
        if tags.setdefault(name, value) != value:
            msg = f"the tag {_shown(name)} was expected once and has two values: keep one --tag"
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
        msg = f"at most {MAX_TAGS} tags were expected and {len(tags)} are given: leave some out"
        raise SettingsError(msg)
    for name, value in tags.items():
        _check_tag(name, value)
    for name in tag_dimensions:
        if name not in tags:
            msg = (
                f"the tag dimension {_shown(name)} was expected to be the key of a tag and is "
                f"none: add --tag {name[:_SHOWN_CHARS]}=VALUE"
            )
            raise SettingsError(msg)
        _check_dimension(name, tags[name])


def _check_tag(name: str, value: str) -> None:
    if name in TAKEN or name in COMMON_DIMS or METRIC_NAME.fullmatch(name):
        msg = f"the tag {_shown(name)} has the name of a member of the lines: choose another key"
        raise SettingsError(msg)
    if not (name.strip() and name.isprintable() and len(name) <= MAX_DIMENSION_NAME_CHARS):
        msg = (
            f"the key of a tag was expected to be 1 to {MAX_DIMENSION_NAME_CHARS} printable "
            f"characters and is {_shown(name)}: choose another key"
        )
        raise SettingsError(msg)
    if not (value.strip() and value.isprintable() and len(value) <= MAX_DIMENSION_VALUE_CHARS):
        msg = (
            f"the value of the tag {_shown(name)} was expected to be 1 to "
            f"{MAX_DIMENSION_VALUE_CHARS} printable characters and is {_shown(value)}: choose "
            "another value"
        )
        raise SettingsError(msg)


def _check_dimension(name: str, value: str) -> None:
    if name.startswith(":") or not name.isascii() or not value.isascii():
        msg = (
            f"the tag {_shown(name)} was expected to be printable ASCII and not to begin with a "
            "colon, as CloudWatch dimensions are: choose another key or value, or leave it out "
            "of --tag-dimension"
        )
        raise SettingsError(msg)


def _shown(text: str) -> str:
    return ascii(text[:_SHOWN_CHARS])
