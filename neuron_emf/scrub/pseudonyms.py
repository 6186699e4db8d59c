"""
Other names for names: the same name gets the same one wherever it stands.

They hold no digit but where the name's own form is of digits, because the
emitter takes texts that differ in digits alone for one.
"""

from __future__ import annotations

import re
from string import ascii_lowercase
from typing import Final

_RESOURCE: Final = re.compile(r"(i|ami|subnet|u)-[0-9a-f]{8,32}")
_ACCOUNT: Final = re.compile(r"[0-9]{12}")
_SCHEMES: Final = ("slurm:", "ecs:", "unit:", "container:", "pod:", "process:")
"""How the names of owners begin that are no pods; they identify nobody."""

_DIGITS: Final = re.compile(r"[0-9]")
_SEPARATOR: Final = "/"


class Pseudonyms:
    """The names given so far, in the order in which the originals were seen."""

    def __init__(self) -> None:
        self._names: dict[str, str] = {}

    def __len__(self) -> int:
        return len(self._names)

    def name(self, text: str) -> str:
        """
        The other name of *text*, part by part where it is a path.

        Empty text stays empty: that nobody said it is worth knowing.
        """
        for scheme in _SCHEMES:
            if text.startswith(scheme) and len(text) > len(scheme):
                return scheme + self.name(text[len(scheme) :])
        return _SEPARATOR.join(self._part(part) for part in text.split(_SEPARATOR))

    def message(self, text: str) -> str:
        """
        The other text of a message; the same where two differ in digits alone.

        So do those who count messages take them: process ids differ in each.
        """
        return self._part(_DIGITS.sub("", text)) if text else ""

    def _part(self, text: str) -> str:
        if not text:
            return ""
        if text not in self._names:
            self._names[text] = _in_the_form_of(text, len(self._names) + 1)
        return self._names[text]


def _in_the_form_of(text: str, number: int) -> str:
    if resource := _RESOURCE.fullmatch(text):
        return f"{resource[1]}-{number:017x}"
    if _ACCOUNT.fullmatch(text):
        return f"{number:012d}"
    return f"name-{_letters(number)}"


def _letters(number: int) -> str:
    """1 is a, 26 is z, 27 is aa."""
    letters = ""
    while number:
        number, place = divmod(number - 1, len(ascii_lowercase))
        letters = ascii_lowercase[place] + letters
    return letters
