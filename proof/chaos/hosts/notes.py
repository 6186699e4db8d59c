"""What is noted of one host while it runs, and looked at when all is over."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


@dataclass(frozen=True)
class Lived:
    """
    One life, when it is over.

    Attributes:
        truth: What its monitors wrote.

        seen: Which minutes its reading loop saw.
    """

    truth: Path
    seen: Path


@dataclass(frozen=True)
class Moved:
    """The clock was moved, in seconds since the epoch by that clock."""

    before_s: float
    after_s: float


@dataclass
class Notes:
    """
    What is known of a host.

    Attributes:
        produced: Records of each boot, by its spool.

        dropped: Of each boot by reason, as last seen in its spool.

        waited: When each record is from that outlived the emitter that made it, ms since the
            epoch, by boot and number.

        lives: In order.

        moves: Of its clock.

        happened: Troubles, by kind.

        wrong: What must not be, in words.

        left: Records that stayed in the spool.
    """

    produced: dict[str, int] = field(default_factory=dict)
    dropped: dict[str, Counter[str]] = field(default_factory=dict)
    waited: dict[tuple[str, int], int] = field(default_factory=dict)
    lives: list[Lived] = field(default_factory=list)
    moves: list[Moved] = field(default_factory=list)
    happened: Counter[str] = field(default_factory=Counter)
    wrong: list[str] = field(default_factory=list)
    left: int = 0
