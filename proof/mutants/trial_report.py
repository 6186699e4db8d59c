"""One run: which mutants are tried, how each ended, and what the table says."""

from __future__ import annotations

import random
import sys
import time
from collections import Counter
from dataclasses import dataclass, field
from itertools import pairwise
from typing import TYPE_CHECKING, Final

from proof.mutants.answers import homeless, stale, unanswered
from proof.mutants.mutant import likeness, mutants_of
from proof.mutants.trials import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from proof.mutants.mutant import Likeness, Mutant
    from proof.mutants.rules import Rule
    from proof.mutants.trials import Trials

HEADS: Final = ("rule", "modules", "mutants", "tried", "killed", "answered", "unanswered")
STAGES: Final = (0, 2, 8)
"""Where stages of test files begin; those that killed most mutants so far are in the first."""

SHORTEST_LIMIT_S: Final = 5.0
CLEAN_TIMES: Final = 3  # a mutant that takes longer than this many clean runs does not end


@dataclass(frozen=True, slots=True)
class MutantBatch:
    """One module of one rule, and those of its mutants that are to be tried."""

    rule: Rule
    module: str
    source: str
    mutants: tuple[Mutant, ...]
    all_mutants: tuple[Mutant, ...]

    @property
    def is_whole(self) -> bool:
        """Whether none is left out."""
        return len(self.mutants) == len(self.all_mutants)


@dataclass(slots=True)
class MutantReport:
    """
    What became of the mutants.

    Attributes:
        tried: Each that was.

        survivors: Those that no test saw.

        killers: How often each test file was the first to fail.

        counts: By rule: modules, mutants there are, tried, survivors.
    """

    tried: list[Likeness] = field(default_factory=list)
    survivors: list[Likeness] = field(default_factory=list)
    killers: Counter[str] = field(default_factory=Counter)
    whole: dict[str, set[Likeness]] = field(default_factory=dict)
    counts: dict[str, Counter[str]] = field(default_factory=dict)

    def unanswered(self, given: Mapping[Likeness, str]) -> list[Likeness]:
        """Survivors without an answer."""
        return unanswered(self.survivors, given)

    def stale(self, given: Mapping[Likeness, str]) -> list[Likeness]:
        """Answers without a survivor, as far as this run can say."""
        return sorted({*stale(self.tried, self.survivors, given), *homeless(given, self.whole)})

    def rows(self) -> list[tuple[str, ...]]:
        """A row a rule, and one for all."""
        rows = [(name, *_cells(counts)) for name, counts in self.counts.items()]
        total: Counter[str] = sum(self.counts.values(), Counter())
        return [*rows, ("all", *_cells(total))]


def _cells(counts: Counter[str]) -> tuple[str, ...]:
    return tuple(f"{counts[head]:,}" for head in HEADS[1:])


def tasks(
    rules: Sequence[Rule], modules: Sequence[str], sample: int | None, seed: int
) -> list[MutantBatch]:
    """What to try: every mutant of *modules* of *rules*, or *sample* of them, chosen by *seed*."""
    whole = [
        (rule, module, source, tuple(mutants_of(module, source)))
        for rule in rules
        for module in rule.modules
        if not modules or module in modules
        for source in [(REPOSITORY / module).read_text(encoding="utf-8")]
    ]
    places = [(at, number) for at, one in enumerate(whole) for number in range(len(one[3]))]
    if sample is not None and sample < len(places):
        places = sorted(random.Random(seed).sample(places, sample))
    return [
        MutantBatch(rule, module, source, tuple(found[n] for at, n in places if at == place), found)
        for place, (rule, module, source, found) in enumerate(whole)
    ]


def judge(
    task: MutantBatch, trials: Trials, given: Mapping[Likeness, str], into: MutantReport
) -> None:
    """
    Try the mutants of *task*, one after the other.

    Raises:
        TrialError: If the tests fail without a mutant.
    """
    counts = into.counts.setdefault(task.rule.name, Counter())
    counts["modules"] += 1
    counts["mutants"] += len(task.all_mutants)
    if not task.mutants:
        return
    tests, options = task.rule.tests_of(task.module), task.rule.options()
    kills: Counter[str] = Counter()
    began = time.monotonic()
    limit_s = max(SHORTEST_LIMIT_S, CLEAN_TIMES * trials.clean([*tests, *options]))
    survivors = []
    known = set()
    for mutant in task.mutants:
        after = mutant.make()
        alike = likeness(task.module, mutant.line, task.source, after)
        tests.sort(key=lambda test: (-kills[test], -into.killers[test]))
        stages = [tests[first:end] for first, end in pairwise((*STAGES, None))]
        runs = [[*stage, *options] for stage in stages if stage]
        outcome = trials.outcome(task.module, after, runs, limit_s)
        known.add(alike)
        into.tried.append(alike)
        counts["tried"] += 1
        if outcome.survived:
            survivors.append(alike)
            sys.stderr.write(f"survived: {alike}\n")
        else:
            killer = outcome.by.partition("::")[0].removeprefix("import of ")
            into.killers[killer] += 1
            kills[killer] += 1
    counts["killed"] += len(task.mutants) - len(survivors)
    counts["answered"] += sum(one in given for one in survivors)
    counts["unanswered"] += sum(one not in given for one in survivors)
    into.survivors += survivors
    if task.is_whole:
        into.whole[task.module] = known
    took_s = time.monotonic() - began
    sys.stderr.write(
        f"{task.module}: {len(task.mutants)} tried, {len(survivors)} survived, {took_s:.0f} s\n"
    )
