"""
Change the rules that matter, one small thing at a time, and see a test fail each time.

    python -m proof.mutants [--all | --module NAME ...] [--seed N] [--sample N] [--record]

Without --all or --module a sample of all mutants is tried, chosen by the seed.
A mutant that no test sees must have its reason in answers.toml. Ends with 0, with
1 when one has none or a reason has no mutant, and with 2 when it cannot be run.
"""

from __future__ import annotations

import argparse
import importlib.util
import sys
import time
from contextlib import ExitStack
from importlib import metadata
from pathlib import Path
from queue import Empty, SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Final

from benchmarks.record import made
from proof.mutants.answers import answers, proposed
from proof.mutants.rules import RULES
from proof.mutants.trial_report import HEADS, MutantReport, judge, tasks
from proof.mutants.trials import TrialError, trials

if TYPE_CHECKING:
    from collections.abc import Sequence

    from proof.mutants.mutant import Likeness
    from proof.mutants.trial_report import MutantBatch
    from proof.mutants.trials import Trials

SAMPLE: Final = 120
"""Mutants tried without --all: under three minutes on two cores."""


def main(argv: Sequence[str] | None = None) -> int:
    """Run, print the table, say what has no answer."""
    chosen = _arguments(argv)
    if importlib.util.find_spec("cosmic_ray") is None:
        print("expected cosmic-ray, found none: run `make mutants`", file=sys.stderr)
        return 2
    modules = [module for rule in RULES for module in rule.modules]
    wanted = [module for name in chosen.module for module in modules if _is_named(module, name)]
    if chosen.module and not wanted:
        print(f"expected modules of the rules, found {chosen.module}: {modules}", file=sys.stderr)
        return 2
    sample = None if chosen.all or wanted else chosen.sample
    began = time.monotonic()
    given = answers()
    judgement = MutantReport()
    try:
        _judge(tasks(RULES, wanted, sample, chosen.seed), chosen.processes, given, judgement)
    except TrialError as error:
        print(error, file=sys.stderr)
        return 2
    record = made(
        "mutants",
        _command(chosen),
        time.monotonic() - began,
        HEADS,
        judgement.rows(),
        library=f"cosmic-ray {metadata.version('cosmic-ray')}",
        seed=chosen.seed,
        whole=sample is None and not wanted,
    )
    print(record.text())
    print(record.how)
    if chosen.record:
        print(record.write())
    missing, stale = judgement.unanswered(given), judgement.stale(given)
    for survivor in missing:
        print("\nno test sees this one: write a test, or say why it changes nothing")
        print(proposed(survivor))
    for answer in stale:
        print("\na test sees this one, or it is gone: remove its answer")
        print(proposed(answer))
    return 1 if missing or stale else 0


def _judge(
    all_tasks: list[MutantBatch],
    processes: int,
    given: dict[Likeness, str],
    judgement: MutantReport,
) -> None:
    """Every task, in *processes* copies of the tree."""
    waiting: SimpleQueue[MutantBatch] = SimpleQueue()
    for task in all_tasks:
        waiting.put(task)
    failures: list[BaseException] = []

    def work(one: Trials) -> None:
        try:
            while not failures:
                judge(waiting.get_nowait(), one, given, judgement)
        except Empty:
            pass
        except BaseException as error:  # noqa: BLE001 - the main thread raises it
            failures.append(error)

    with ExitStack() as stack:
        workers = [
            Thread(target=work, args=(stack.enter_context(trials()),), daemon=True)
            for _ in range(processes)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    if failures:
        raise failures[0]


def _is_named(module: str, name: str) -> bool:
    return name in {module, Path(module).stem} or module.startswith(f"{name.rstrip('/')}/")


def _command(chosen: argparse.Namespace) -> str:
    if chosen.all:
        return "make mutants ALL=1"
    if chosen.module:
        return f"make mutants MODULE={' '.join(chosen.module)}"
    return f"make mutants SEED={chosen.seed}"


def _arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof.mutants", description=__doc__)
    parser.add_argument("--all", action="store_true", help="every mutant of every rule")
    parser.add_argument(
        "--module", action="append", default=[], help="all of one module, such as merge"
    )
    parser.add_argument("--seed", type=int, default=1, help="of the sample (1)")
    parser.add_argument(
        "--sample", type=int, default=SAMPLE, help=f"mutants without --all ({SAMPLE})"
    )
    parser.add_argument("--processes", type=int, default=2, help="at a time (2)")
    parser.add_argument("--record", action="store_true", help="write docs/figures/mutants.json")
    return parser.parse_args(argv)


if __name__ == "__main__":
    sys.exit(main())
