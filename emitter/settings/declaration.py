"""How a setting is declared, and what values it can take beside texts and numbers."""

from __future__ import annotations

import ipaddress
import math
import re
from dataclasses import field
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

import click

if TYPE_CHECKING:
    from collections.abc import Sequence

LONGEST_INTERVAL_S: Final = 3600.0

_T = TypeVar("_T")


def setting(
    default: _T,
    help_text: str,
    *,
    kind: click.ParamType[Any] | type | None = None,
    metavar: str | None = None,
    short: str | None = None,
    is_advanced: bool = False,
) -> _T:
    """
    Declare one setting: its default, what it is for, and what values it takes.

    A setting whose default is a tuple takes several values: the flag again and
    again, or separated by commas; an array in the file.
    """
    metadata = {"help": help_text, "kind": kind, "metavar": metavar, "short": short}
    return field(default=default, metadata={**metadata, "is_advanced": is_advanced})


def advanced(default: _T, help_text: str, **form: Any) -> _T:  # noqa: ANN401 - as `setting` has it
    """Declare a `setting` that `--help` leaves to `--help-all`."""
    return setting(default, help_text, **form, is_advanced=True)


class Amount(click.FloatRange):
    """A number within bounds; `nan` is within none, though it compares as if."""

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click declares it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> float:
        """The number that *value* says."""
        found = float(super().convert(value, param, ctx))
        if math.isnan(found):
            self.fail(f"{value} is not a number", param, ctx)
        return found


class Texts(click.ParamType[str]):
    """One of several texts, as a variable holds them: separated by commas."""

    name = "texts"

    def split_envvar_value(self, rv: str) -> Sequence[str]:
        """The values of a variable."""
        return split_commas([rv])


class OneOf(click.ParamType[str]):
    """One of a few words, or a word with something behind its colon."""

    name = "choice"

    def __init__(self, words: Sequence[str], prefix: str, what: str) -> None:
        self._words = tuple(words)
        self._prefix = prefix
        self._what = what

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click declares it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """The word that *value* is."""
        text = str(value)
        if text not in self._words and not text.startswith(self._prefix):
            expected = ", ".join([*self._words, f"{self._prefix}{self._what}"])
            self.fail(f"{text!r} is not one of {expected}", param, ctx)
        if text == self._prefix:
            self.fail(f"{text!r} has no {self._what} after the colon", param, ctx)
        return text


def split_commas(values: Sequence[str]) -> tuple[str, ...]:
    """The texts between the commas of *values*, without empty ones."""
    pieces = (piece.strip() for value in values for piece in value.split(","))
    return tuple(piece for piece in pieces if piece)


LOOPBACK: Final = "127.0.0.1"

_FORM: Final = re.compile(
    r"(?:(?:\[(?P<six>[0-9A-Fa-f:.%A-Za-z]+)\]|(?P<host>[A-Za-z0-9._-]+)):)?(?P<port>[0-9]{1,5})"
)


class ListenAddress(NamedTuple):
    """An address or a name of this machine, and a port, 0 for a free one."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Whether only this machine reaches it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_listen_address(text: str) -> ListenAddress:
    """
    Read `PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`; without an address, 127.0.0.1.

    Raises:
        ValueError: If *text* is of another form, or the port above 65535.
    """
    found = _FORM.fullmatch(text.strip())
    if found is None or int(found["port"]) > 65_535:
        msg = (
            f"{text[:60]!r} is not a port such as 8008, or an address and port such as 0.0.0.0:8008"
        )
        raise ValueError(msg)
    return ListenAddress(found["six"] or found["host"] or LOOPBACK, int(found["port"]))


class ListenAddressType(click.ParamType[str]):
    """A text that `read_listen_address` reads."""

    name = "address"

    def convert(
        self,
        value: Any,  # noqa: ANN401 - as click declares it
        param: click.Parameter | None,
        ctx: click.Context | None,
    ) -> str:
        """The text that *value* is."""
        try:
            read_listen_address(str(value))
        except ValueError as error:
            self.fail(str(error), param, ctx)
        return str(value)
