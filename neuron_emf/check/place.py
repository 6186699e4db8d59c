"""Where the lines go, and what a policy calls it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

if TYPE_CHECKING:
    from neuron_emf.check.asking import Answer

ANY: Final = "*"
_ARN_PARTS: Final = 6


@dataclass(frozen=True, slots=True)
class Place:
    """
    One log group of one account and region.

    Attributes:
        region: Such as `us-east-1`.

        group: Of the emitters' lines.

        rollups_group: Of the rollups.

        stack_name: Of the stack; empty when there is none.

        partition: Such as `aws`.

        account_id: Twelve digits, `*` when it is not known.
    """

    region: str
    group: str
    rollups_group: str
    stack_name: str
    partition: str = "aws"
    account_id: str = ANY

    @property
    def every_group(self) -> str:
        """What a policy must name for actions that look at groups by prefix."""
        return self._arn(ANY)

    @property
    def of_group(self) -> str:
        """The group, as a policy names it."""
        return self._arn(f"{self.group}:{ANY}")

    def of_stream(self, stream: str) -> str:
        """One stream of it, as a policy names it."""
        return self._arn(f"{self.group}:log-stream:{stream}")

    def _arn(self, rest: str) -> str:
        return f"arn:{self.partition}:logs:{self.region}:{self.account_id}:log-group:{rest}"


def whose(caller: Answer) -> tuple[str, str]:
    """Partition and account number by the answer of STS, `*` for what it does not say."""
    parts = str(caller.response.get("Arn", "")).split(":")
    partition = parts[1] if len(parts) >= _ARN_PARTS else "aws"
    return partition, str(caller.response.get("Account", "")) or ANY
