"""Whose a runtime is, as far as a minute says it."""

from __future__ import annotations

from typing import NamedTuple


class RuntimeOwner(NamedTuple):
    """
    The owner of one runtime.

    Attributes:
        name: What people group by, such as `namespace/pod/container`; None when nobody says.

        team: Of whom, as the scheduler says; None where it does not.

        gone: Its pod or job is no longer on the instance, and its process is.
    """

    name: str | None = None
    team: str | None = None
    gone: bool = False


NOBODY = RuntimeOwner()
