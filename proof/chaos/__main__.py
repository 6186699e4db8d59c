"""
The chaos of the stack: `python -m proof.chaos [--seed N]`.

Lines of a fleet's emitters go through the real functions as CloudWatch Logs and Kinesis deliver
them: late, twice, out of order; functions die at each of their steps. In the end every rollup
equals a plain calculation over all lines. `proof.kills` proves the promises of killed emitters.
Exit codes: 0 no difference, 1 a difference or a kind of trouble that did not happen, 2 usage error.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections import Counter
from typing import TYPE_CHECKING

from proof.chaos.chaos_fleet import fleet
from proof.chaos.chaos_stack import ChaosStack
from proof.chaos.chaos_truth import compare

if TYPE_CHECKING:
    from collections.abc import Sequence

INSTANCES = 20
MINUTES = 30
"""Enough minutes for every trouble."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the chaos, and return the exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m proof.chaos",
        description="Everything fails; nothing is lost, nothing counts twice.",
    )
    help_text = "of the fleet and of its troubles; default 1"
    parser.add_argument("--seed", type=int, default=1, help=help_text)
    seed = parser.parse_args(arguments).seed
    lived = fleet(seed, INSTANCES, MINUTES)
    stack = ChaosStack(seed, {line.record.cluster for line in lived})
    stack.run(lived)
    records = [line.record for line in lived]
    rollups, problems = compare(records, stack.printed, stack.restated, stack.closed)
    differences = [*map(str, problems), *stack.complaints]
    hit, steps = stack.killed_at
    print(
        f"seed {seed}: {INSTANCES} instances, {MINUTES} minutes,"
        f" {len(lived):,} lines accepted, {rollups.total():,} rollups compared,"
        f" close killed at {hit} of {steps} places, {len(differences)} differences"
    )
    happened: Counter[str] = Counter()
    for kind, count in stack.happened.items():
        happened[re.sub(r"(?<= killed) .*", "", kind)] += count  # without the step
    print(", ".join(f"{kind} {count}" for kind, count in sorted(happened.items()) if count))
    for sentence in differences:
        print(f"seed {seed}, {sentence}")
    missing = stack.missing()
    if missing:
        print(f"what was expected to happen and did not: {', '.join(missing)}")
    return 1 if differences or missing else 0


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("chaos: interrupted")
