"""What should be in the spool, and what became of the rest, by boot and number."""

from __future__ import annotations

from collections import Counter

from emitter.spool import NewRecord
from tests.emitter.in_process_service import POISON

HOUR_S = 3600.0

# What is in a record, and how far it is ahead of the clock.
KINDS = {
    "plain": ("x" * 40, 0.0),
    "late": ("x" * 40, -30 * HOUR_S),  # with a plain one: more than 24 h
    "long": ("é" * 3_000, 0.0),
    "future": ("x" * 40, 3 * HOUR_S),
    "poison": (POISON, 0.0),
}


def made(kind, boot, seq, now_s):
    """A record of one of KINDS, or an empty line; its identity is in it, as in a real one."""
    text, ahead_s = KINDS.get(kind, ("", 0.0))
    return NewRecord(round((now_s + ahead_s) * 1000), f"{boot} {seq} {text}" if kind else "")


class Model:
    """One spool's."""

    def __init__(self) -> None:
        self.produced: Counter[str] = Counter()
        self.waiting: dict[tuple[str, int], NewRecord] = {}
        self.delivered: Counter[str] = Counter()
        self.lost: dict[tuple[str, int], NewRecord] = {}
        self.rejected: dict[tuple[str, int], str] = {}  # of the lost: what the service said
        self.state = None

    def keys(self):
        """Every record there ever was."""
        return {
            (boot, seq)
            for boot, produced in self.produced.items()
            for seq in range(1, produced + 1)
        }

    def append(self, boot, records, state):
        """These were given to the spool."""
        for record in records:
            self.produced[boot] += 1
            self.waiting[boot, self.produced[boot]] = record
        self.state = state

    def observe(self, there, answered, rejected):
        """Whatever is not *there* any more was answered for, or dropped."""
        assert there <= self.waiting.keys(), "something came back"
        for key in [key for key in self.waiting if key not in there]:
            record = self.waiting.pop(key)
            if key in answered:
                self.delivered[key[0]] += 1
            else:
                self.lost[key] = record
                if key in rejected:
                    self.rejected[key] = rejected[key]
