"""
Whether an instance is paid for whether it runs or not.

*Sunk* is what a capacity block or a reservation has paid: to stop the instance
saves nothing. *Avoidable* ends, at most, when the instance stops. The emitter's
operator knows best (`--paid`), then whoever deployed the stack (the template's
parameter PaidByType, whose AllowedPattern is the grammar of `paid_by_type`),
then the metadata service, then the type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, Literal, Protocol, get_args

if TYPE_CHECKING:
    from collections.abc import Mapping

Paid = Literal["sunk", "avoidable"]
SUNK: Final = "sunk"
AVOIDABLE: Final = "avoidable"
PAID: Final[tuple[Paid, ...]] = get_args(Paid)

SPOT: Final = "spot"
CAPACITY_BLOCK: Final = "capacity-block"
"""What the EC2 API calls a block; nobody has recorded what the metadata service says in one."""

SUNK_TYPES: Final = ("trn2", "trn3")
"""How the types begin that are sold in capacity blocks and have no on-demand price."""

MAX_PAID_BY_TYPE_CHARS: Final = 512
"""The parameter's MaxLength, which its pattern cannot say."""

_ENTRY: Final = re.compile(r"([a-z0-9.\-]+)=(sunk|avoidable)")


class PaidByTypeError(ValueError):
    """The text is not in the grammar; the message says what is wrong and what to write."""


class Payable(Protocol):
    """What is known of how an instance is paid: a `MinuteRecord`, or as much of one."""

    @property
    def paid(self) -> str | None:
        """`sunk` or `avoidable`, where its operator said it."""

    @property
    def lifecycle(self) -> str | None:
        """The purchasing option, as the metadata service says it."""

    @property
    def instance_type(self) -> str | None:
        """As EC2 spells it."""


def paid_by_type(text: str) -> dict[str, Paid]:
    """
    How instances are paid, by type, out of `trn1.32xlarge=sunk,trn2.48xlarge=avoidable`.

    Of what stands twice the last counts. Empty text says nothing of any type.

    Raises:
        PaidByTypeError: If *text* is not what the template accepts.
    """
    if not text:
        return {}
    if len(text) > MAX_PAID_BY_TYPE_CHARS:
        msg = f"{len(text)} characters, at most {MAX_PAID_BY_TYPE_CHARS} are allowed: omit types"
        raise PaidByTypeError(msg)
    by_type: dict[str, Paid] = {}
    for entry in text.split(","):
        match = _ENTRY.fullmatch(entry)
        if match is None:
            msg = (
                f"{entry[:40]!a}, which is not TYPE=sunk or TYPE=avoidable: write it as "
                "trn1.32xlarge=sunk,trn2.48xlarge=avoidable, in small letters and without blanks"
            )
            raise PaidByTypeError(msg)
        by_type[match[1]] = SUNK if match[2] == SUNK else AVOIDABLE
    return by_type


def is_sunk(instance: Payable, by_type: Mapping[str, str], *, reserved: bool = False) -> bool:
    """
    Whether *instance* costs the same when it stops; *by_type* as `paid_by_type` gives it.

    One that is *reserved* runs in a capacity reservation, as EC2 says.
    """
    paid = instance.paid or by_type.get(instance.instance_type or "")
    if paid is not None:
        return paid == SUNK
    if instance.lifecycle in (SPOT, CAPACITY_BLOCK):
        return instance.lifecycle == CAPACITY_BLOCK
    if reserved:
        return True
    return (instance.instance_type or "").startswith(SUNK_TYPES)
