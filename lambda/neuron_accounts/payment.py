"""
Whether an instance is paid for whether it runs or not.

*Committed* is what a capacity block or a reservation has paid: to stop the instance saves nothing.
*Avoidable* ends, at most, when the instance stops. First counts what the emitter's operator says
(`--paid`), then the template's parameter PaidByType, then the metadata service, then the type.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Final, NamedTuple, TypeAlias

from neuron_accounts.prices import setting_entries
from neuron_wire.names import AVOIDABLE_PAID, COMMITTED_PAID

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_wire import MinuteRecord
    from neuron_wire.names import Paid


PaidByType: TypeAlias = "Mapping[str, str]"
"""Payment of instances by instance type: `committed` or `avoidable`."""


SPOT: Final = "spot"


CAPACITY_BLOCK: Final = "capacity-block"
"""What the EC2 API calls a block; what the metadata service says in one is not recorded yet."""


COMMITTED_TYPES: Final = ("trn2", "trn3")
"""How the types begin that are sold in capacity blocks and have no on-demand price."""


MAX_PAID_BY_TYPE_CHARS: Final = 512
"""The parameter's MaxLength, which its pattern cannot say."""


_PAID_ENTRY: Final = re.compile(r"([a-z0-9.\-]+)=(committed|avoidable)")


class PaymentTerms(NamedTuple):
    """
    How an instance is paid, without its record.

    Attributes:
        paid: `committed` or `avoidable` if its operator set it.

        lifecycle: The purchasing option that the metadata service reports.

        instance_type: The type as EC2 spells it.
    """

    paid: str | None
    lifecycle: str | None
    instance_type: str | None


def paid_by_type(text: str) -> dict[str, Paid]:
    """
    How instances are paid, by type, out of `trn1.32xlarge=committed,trn2.48xlarge=avoidable`.

    Of what stands twice the last counts. Empty text says nothing of any type.

    Raises:
        ParameterTextError: If *text* is not what the template accepts.
    """
    wrong = (
        "TYPE=committed or TYPE=avoidable: write it as "
        "trn1.32xlarge=committed,trn2.48xlarge=avoidable, in small letters and without blanks"
    )
    advice = f"at most {MAX_PAID_BY_TYPE_CHARS} are allowed: omit types", wrong
    matches = setting_entries(text, _PAID_ENTRY, MAX_PAID_BY_TYPE_CHARS, advice)
    return {
        match[1]: COMMITTED_PAID if match[2] == COMMITTED_PAID else AVOIDABLE_PAID
        for match in matches
    }


def is_committed(
    instance: MinuteRecord | PaymentTerms, by_type: PaidByType, *, reserved: bool = False
) -> bool:
    """
    Whether *instance* costs the same when it stops; *by_type* as `paid_by_type` gives it.

    One that is *reserved* runs in a capacity reservation, as EC2 says.
    """
    paid = instance.paid or by_type.get(instance.instance_type or "")
    if paid is not None:
        return paid == COMMITTED_PAID
    if instance.lifecycle in (SPOT, CAPACITY_BLOCK):
        return instance.lifecycle == CAPACITY_BLOCK
    if reserved:
        return True
    return (instance.instance_type or "").startswith(COMMITTED_TYPES)
