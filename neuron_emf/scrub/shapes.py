"""
What may stay of a JSON value, and what becomes of the rest.

A value of a type that its place does not have keeps that fault, since it is what
somebody may want to show, and nothing else of itself.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Union

from neuron_emf.scrub.pseudonyms import Pseudonyms

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

NOTHING: Final = re.compile(r"(?!)")
INDEX: Final = re.compile(r"[0-9]{1,4}")


@dataclass(frozen=True, slots=True)
class Number:
    """A number, `true`, `false` or `null`, or a list of them: as it is."""


@dataclass(frozen=True, slots=True)
class Text:
    """
    Text that is kept where all of it matches *kept*; else it gets another name.

    Where it ends with *tail*, that stays, and what is before it gets the name.
    """

    kept: re.Pattern[str] = NOTHING
    tail: re.Pattern[str] = NOTHING


@dataclass(frozen=True, slots=True)
class Message:
    """What a program said: only that it said something, and whether it said the same before."""


@dataclass(frozen=True, slots=True)
class Each:
    """A list of values of one shape."""

    of: Shape


@dataclass(frozen=True, slots=True)
class Members:
    """An object whose members are known by name; the others are removed."""

    by_name: Mapping[str, Shape]


@dataclass(frozen=True, slots=True)
class Keyed:
    """An object with keys of the tool's own choice: those that match *kept* stay."""

    of: Shape
    kept: re.Pattern[str] = INDEX


@dataclass(frozen=True, slots=True)
class Split:
    """
    A core: known members, and the physical cores behind it under whatever key they have.

    An unknown member that is an object has the shape *of*.
    """

    by_name: Mapping[str, Shape]
    of: Shape
    kept: re.Pattern[str]


Shape = Union[Number, Text, Message, Each, Members, Keyed, Split]  # noqa: UP007 - evaluated, on Python 3.10 too

NUMBER: Final = Number()
NAME: Final = Text()
MESSAGE: Final = Message()
_UNLISTED_KEY: Final = re.compile(r"[a-z][a-z0-9_]{0,63}")


@dataclass(slots=True)
class Scrubber:
    """
    Scrubs values, one after the other, with the same other names for all.

    Attributes:
        keep: Members that stay although no list names them: numbers as they are,
            texts under other names.

        removed: How often a member was removed, by its name.
    """

    keep: frozenset[str] = frozenset()
    names: Pseudonyms = field(default_factory=Pseudonyms)
    removed: Counter[str] = field(default_factory=Counter)

    def scrub(self, value: object, shape: Shape) -> object:
        """What may stay of *value*."""
        if value is None:
            return None
        scrubs: Mapping[type, Callable[..., object]] = {
            str: self._text, list: self._list, dict: self._object,
        }  # fmt: skip
        scrub = scrubs.get(type(value))
        return value if scrub is None else scrub(value, shape)

    def _text(self, text: str, shape: Shape) -> str:
        if isinstance(shape, Message):
            return self.names.message(text)
        if isinstance(shape, Text):
            if shape.kept.fullmatch(text):
                return text
            if tail := shape.tail.search(text):
                return self.names.name(text[: tail.start()]) + tail[0]
        return self.names.name(text)

    def _list(self, values: list[object], shape: Shape) -> list[object]:
        each = shape.of if isinstance(shape, Each) else shape
        if isinstance(shape, (Members, Keyed, Split)):
            return []
        return [self.scrub(value, each) for value in values]

    def _object(self, members: dict[str, object], shape: Shape) -> dict[str, object]:
        if isinstance(shape, Keyed):
            return {
                self._key(name, shape.kept): self.scrub(value, shape.of)
                for name, value in members.items()
            }
        if not isinstance(shape, (Members, Split)):
            return {}
        scrubbed = {}
        for name, value in members.items():
            if name in shape.by_name:
                scrubbed[name] = self.scrub(value, shape.by_name[name])
            elif isinstance(shape, Split) and isinstance(value, dict):
                scrubbed[self._key(name, shape.kept)] = self.scrub(value, shape.of)
            elif name in self.keep:
                scrubbed[name] = self.unlisted(value)
            else:
                self.removed[name] += 1
        return scrubbed

    def unlisted(self, value: object) -> object:
        """What stays of a value that somebody asked to keep, whatever shape it has."""
        if isinstance(value, str):
            return self.names.name(value)
        if isinstance(value, list):
            return [self.unlisted(each) for each in value]
        if isinstance(value, dict):
            return {
                self._key(name, _UNLISTED_KEY): self.unlisted(each) for name, each in value.items()
            }
        return value

    def _key(self, name: str, kept: re.Pattern[str]) -> str:
        return name if kept.fullmatch(name) else self.names.name(name)
