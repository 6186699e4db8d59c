"""
The AWS CLI's shorthand for structures: `Name=ClusterName,Value=blue`, `Values=[a,b]`, `A={B=c}`.

As https://docs.aws.amazon.com/cli/latest/userguide/cli-usage-shorthand.html describes it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tests.docs.aws_words import refuse

if TYPE_CHECKING:
    from botocore.model import Shape


NUMBERS = {"integer": int, "long": int, "float": float, "double": float}


def read(text: str, shape: Shape) -> Any:
    """
    The structure or map that *text* writes.

    Raises:
        CallError:
            If it writes none, or a member that the shape does not have.
    """
    reader = _Reader(text)
    found = reader.pairs(shape, "")
    if reader.rest:
        refuse(f"cannot read {reader.rest} of {text}")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.at = 0

    @property
    def rest(self) -> str:
        return self.text[self.at :]

    def _take(self, sign: str) -> bool:
        taken = self.rest.startswith(sign)
        self.at += len(sign) if taken else 0
        return taken

    def _word(self, ends: str) -> str:
        for quote in ("'", '"'):
            if self._take(quote):
                word, found, _ = self.rest.partition(quote)
                if not found:
                    refuse(f"{quote} is not closed in {self.text}")
                self.at += len(word) + 1
                return word
        start = self.at
        while self.at < len(self.text) and self.text[self.at] not in ends:
            self.at += 1
        return self.text[start : self.at]

    def pairs(self, shape: Shape, end: str) -> dict[str, Any]:
        found: dict[str, Any] = {}
        while True:
            name = self._word("=,[]{}")
            if not name or not self._take("="):
                refuse(f"expected NAME=VALUE, found {name + self.rest} in {self.text}")
            found[name] = self._value(_member(shape, name), end)
            if not self._take(","):
                return found

    def _value(self, shape: Shape, end: str) -> Any:
        if self._take("{"):
            found = self.pairs(shape, "}")
            self._close("}")
            return found
        if self._take("["):
            items = []
            while not self.rest.startswith("]"):
                items.append(self._value(_item(shape), "]"))
                if not self._take(","):
                    break
            self._close("]")
            return items
        if shape.type_name == "list":
            items = [self._plain(_item(shape), end)]
            while self._is_an_item() and self._take(","):
                items.append(self._plain(_item(shape), end))
            return items
        return self._plain(shape, end)

    def _is_an_item(self) -> bool:
        # `Values=a,b` has two, `Values=a,Name=b` has one
        following = self.rest[1:].partition(",")[0]
        return self.rest.startswith(",") and "=" not in following

    def _plain(self, shape: Shape, end: str) -> Any:
        word = self._word("," + end)
        if shape.type_name in NUMBERS:
            try:
                return NUMBERS[shape.type_name](word)
            except ValueError:
                refuse(f"expected a number, found {word}")
        if shape.type_name == "boolean":
            return {"true": True, "false": False}.get(word, word)
        return word

    def _close(self, sign: str) -> None:
        if not self._take(sign):
            refuse(f"expected {sign}, found {self.rest} in {self.text}")


def _member(shape: Shape, name: str) -> Shape:
    if shape.type_name == "map":
        return shape.value
    if shape.type_name != "structure" or name not in shape.members:
        refuse(f"{shape.name} has no member {name}")
    return shape.members[name]


def _item(shape: Shape) -> Shape:
    if shape.type_name != "list":
        refuse(f"{shape.name} is no list")
    return shape.member
