"""
Metrics by choice: members of the minute line that become metrics because somebody asks for them.

A tier has what nearly everybody needs. Whoever misses a number names it, and
pays for that number alone: by the sets of dimensions of the tier, or, with
`@instance`, by cluster and instance in a directive of its own.
"""

from __future__ import annotations

from dataclasses import dataclass
from difflib import get_close_matches
from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError
from neuron_wire.catalogue import CHOOSABLE
from neuron_wire.extraction import MAX_METRICS

if TYPE_CHECKING:
    from collections.abc import Iterable

_BY_INSTANCE: Final = "@instance"
_SHOWN_CHARS: Final = 40


@dataclass(frozen=True, slots=True)
class Choice:
    """
    Names of members of the minute line.

    Attributes:
        by_tier: Counted by the sets of dimensions of the tier.

        by_instance: Counted by cluster and instance.
    """

    by_tier: tuple[str, ...] = ()
    by_instance: tuple[str, ...] = ()

    @property
    def names(self) -> frozenset[str]:
        """All that are chosen, by whatever they are counted."""
        return frozenset(self.by_tier + self.by_instance)


def parse_choice(texts: Iterable[str]) -> Choice:
    """
    The choice that *texts* make, each of them NAME or NAME@instance.

    Raises:
        SettingsError: If one is no gauge and no tally of a minute line, or they are too many.
    """
    given = tuple(dict.fromkeys(texts))
    if len(given) > MAX_METRICS:
        msg = f"Too many --metric values: {len(given)}, maximum {MAX_METRICS}. Omit some."
        raise SettingsError(msg)
    for text in given:
        _require_choosable(text)
    return Choice(
        by_tier=tuple(text for text in given if text in CHOOSABLE),
        by_instance=tuple(
            text.removesuffix(_BY_INSTANCE) for text in given if text.endswith(_BY_INSTANCE)
        ),
    )


def _require_choosable(text: str) -> None:
    name = text.removesuffix(_BY_INSTANCE)
    if name in CHOOSABLE:
        return
    folded = {one.lower(): one for one in CHOOSABLE}
    close = get_close_matches(name.lower(), folded, 1)
    there_is = f"Did you mean {folded[close[0]]}?" if close else f"Use {', '.join(CHOOSABLE)}."
    msg = (
        f"Unknown --metric {text[:_SHOWN_CHARS]!a}: not a gauge or tally of a "
        f"minute line, alone or with {_BY_INSTANCE}. {there_is}"
    )
    raise SettingsError(msg)
