"""Where a page is served: a port, and the address of this machine that it is opened on."""

from __future__ import annotations

import ipaddress
import re
from typing import Any, Final, NamedTuple

import click

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
