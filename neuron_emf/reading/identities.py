"""
Which records were seen already, in little memory.

A week of 1,000 instances is ten million records. Within one boot numbers
follow each other without gaps, so a bit for each is enough; a number far from
all others costs one block, whatever it is.
"""

from __future__ import annotations

from typing import Final

_BLOCK_BITS: Final = 10  # 1,024 numbers: most of a day of minutes


class Identities:
    """A set of `(InstanceId, Boot, Seq)`."""

    def __init__(self) -> None:
        self._blocks: dict[tuple[str, str], dict[int, int]] = {}

    def add(self, instance_id: str, boot: str, seq: int) -> bool:
        """Remember a record; False if it was known."""
        blocks = self._blocks.setdefault((instance_id, boot), {})
        block, bit = seq >> _BLOCK_BITS, 1 << (seq & ((1 << _BLOCK_BITS) - 1))
        known = blocks.get(block, 0)
        if known & bit:
            return False
        blocks[block] = known | bit
        return True
