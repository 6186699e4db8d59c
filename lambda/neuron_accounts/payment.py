"""
Determine whether an instance is paid for even if it does not run.

*Committed* cost was paid for a capacity block or a reservation: stopping the instance saves
nothing. *Avoidable* cost ends, at most, when the instance stops. The first of these decides: the
setting of the emitter's operator (`--paid`), the template's parameter PaidByType, the metadata
service, the type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from neuron_accounts.prices import setting_entries
from neuron_wire.names import COMMITTED_PAID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_wire import MinuteRecord


PaidByType: TypeAlias = "Mapping[str, str]"
"""Payment of instances by instance type: `committed` or `avoidable`."""


SPOT: Final = "spot"


CAPACITY_BLOCK: Final = "capacity-block"
"""The EC2 API's word for a capacity block; the metadata service's word is not recorded yet."""


COMMITTED_TYPES: Final = ("trn2", "trn3")
"""Beginnings of types that are sold in capacity blocks and have no on-demand price."""


MAX_PAID_BY_TYPE_CHARS: Final = 512
"""The parameter's MaxLength, which its pattern cannot express."""


_PAID_ENTRY: Final = re.compile(r"([a-z0-9.\-]+)=(committed|avoidable)")


class PaymentTerms(NamedTuple):
    """
    How an instance is paid, without its record.

    Attributes:
        paid: `committed` or `avoidable` if its operator set it.

        lifecycle: The purchasing option that the metadata service reports.

        instance_type: The type as EC2 writes it.
    """

    paid: str | None
    lifecycle: str | None
    instance_type: str | None


def paid_by_type(text: str) -> PaidByType:
    """
    Return how instances are paid by type, from `trn1.32xlarge=committed,trn2.48xlarge=avoidable`.

    For a duplicate type, the last entry counts. An empty text sets no type.

    >>> paid_by_type("trn1.32xlarge=committed,inf2.xlarge=avoidable")
    {'trn1.32xlarge': 'committed', 'inf2.xlarge': 'avoidable'}

    Raises:
        ParameterTextError: If *text* is not what the template accepts.
    """
    wrong = (
        "TYPE=committed or TYPE=avoidable: write it as "
        "trn1.32xlarge=committed,trn2.48xlarge=avoidable, in small letters and without blanks"
    )
    matches = setting_entries(text, _PAID_ENTRY, MAX_PAID_BY_TYPE_CHARS, wrong)
    return {match[1]: match[2] for match in matches}


def is_committed(
    instance: MinuteRecord | PaymentTerms, by_type: PaidByType, *, reserved: bool = False
) -> bool:
    """
    Return True if *instance* costs the same when it stops; *by_type* is from `paid_by_type`.

    A *reserved* instance runs in a capacity reservation, by EC2's answer.
    """
    paid = instance.paid or by_type.get(instance.instance_type or "")
    if paid is not None:
        return paid == COMMITTED_PAID
    if instance.lifecycle in (SPOT, CAPACITY_BLOCK):
        return instance.lifecycle == CAPACITY_BLOCK
    if reserved:
        return True
    return (instance.instance_type or "").startswith(COMMITTED_TYPES)
