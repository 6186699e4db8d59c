"""Chances from a seed, of which every one comes up: packs of cards, dealt to the last."""

from __future__ import annotations

from typing import TYPE_CHECKING, Generic, TypeVar

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable, Mapping

NEAR = 20
_Card = TypeVar("_Card")


class Pack(Generic[_Card]):
    """Cards in an order of chance, shuffled again when all were dealt."""

    def __init__(self, rng: random.Random, cards: Mapping[_Card, int]) -> None:
        self._rng = rng
        self._cards = [card for card, count in cards.items() for _ in range(count)]
        self._left: list[_Card] = []

    def deal(self) -> _Card:
        """The next card."""
        if not self._left:
            self._left = list(self._cards)
            self._rng.shuffle(self._left)
        return self._left.pop()


class Steps:
    """
    The steps at which a function is yet to be killed, before and after their effect.

    By kind of call, in their order, and by number, up to the most steps that an
    undisturbed invocation took.
    """

    def __init__(self, rng: random.Random, calls: Iterable[str]) -> None:
        self._rng = rng
        self.calls = [(name, after) for name in calls for after in (False, True)]
        self.numbers: list[tuple[int, bool]] = []
        self.most = 0
        self._hit: set[tuple[str | int, bool]] = set()

    def took(self, steps: int) -> None:
        """An undisturbed invocation took so many *steps*."""
        if steps > self.most:
            self.most = steps
            self.numbers = [(at, after) for at in range(1, steps + 1) for after in (False, True)]

    def died(self, name: str, number: int, *, after: bool) -> None:
        """An invocation was killed at this step."""
        self._hit |= {(name, after), (number, after)}

    def next_call(self) -> tuple[str, bool] | None:
        """A kind of call that is yet to be the last one of an invocation."""
        return next((one for one in self.calls if one not in self._hit), None)

    def next_number(self) -> tuple[int, bool] | None:
        """
        A number that is yet to be that of the last step; the lower ones sooner.

        A run that is killed leaves its work to the next, one that ends leaves none.
        """
        left = [one for one in self.numbers if one not in self._hit]
        return self._rng.choice(left[:NEAR]) if left else None

    @property
    def numbers_hit(self) -> int:
        """How many of the numbers were that of the last step."""
        return sum(one in self._hit for one in self.numbers)
