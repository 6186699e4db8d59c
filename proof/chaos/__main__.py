"""
The chaos run: `python -m proof.chaos [--seed N] [--emitters 20] [--minutes 30] [--record]`.

Real emitters with simulated monitors send to the strict double of CloudWatch
Logs; what it takes goes through the stack's functions. Hosts, network, clocks,
disks, service and functions fail as the seed says. In the end every record has
arrived or was counted as dropped, and every rollup is what a plain reckoning
over all lines gives.

One exception is stated and therefore never planned: a record that only ever was
in memory, because the disk was full, is lost when its emitter is killed.

Exit codes: 0 no difference, 1 a difference or a kind of trouble that did not
happen, 2 usage error.
"""

from __future__ import annotations

import argparse
import signal
import sys
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

REPOSITORY = Path(__file__).resolve().parents[2]
if str(REPOSITORY / "lambda") not in sys.path:
    sys.path.insert(0, str(REPOSITORY / "lambda"))  # where the functions live

from benchmarks import record  # noqa: E402
from proof.chaos.run import run  # noqa: E402
from proof.chaos.table import HEADS, rows, sentences  # noqa: E402
from proof.chaos.troubles import plan  # noqa: E402

if TYPE_CHECKING:
    from collections.abc import Sequence

SEED = 1
EMITTERS = 20
MINUTES = 30.0


def main(arguments: Sequence[str] | None = None) -> int:
    """The exit code."""
    parser = argparse.ArgumentParser(
        prog="python -m proof.chaos",
        description="Everything fails; nothing is lost, nothing counts twice.",
    )
    parser.add_argument("--seed", type=int, default=SEED, help=f"of the plan; default {SEED}")
    parser.add_argument("--emitters", type=int, default=EMITTERS, help=f"default {EMITTERS}")
    parser.add_argument(
        "--minutes", type=float, default=MINUTES, help=f"simulated; default {MINUTES:g}"
    )
    parser.add_argument("--plan", action="store_true", help="print the plan, and do nothing")
    parser.add_argument("--record", action="store_true", help="write docs/figures/chaos.json")
    chosen = parser.parse_args(arguments)
    try:
        planned = plan(chosen.seed, chosen.emitters, chosen.minutes)
    except ValueError as error:
        parser.error(str(error))
    if chosen.plan:
        print("\n".join(planned.lines()))
        return 0
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # no process is left behind
    began_s = time.monotonic()
    with tempfile.TemporaryDirectory(
        prefix="neuron-emf-chaos-", ignore_cleanup_errors=True
    ) as folder:
        findings = run(planned, Path(folder))
    kept = record.made(
        "chaos",
        _command(chosen),
        time.monotonic() - began_s,
        HEADS,
        rows(findings),
        seed=chosen.seed,
        emitters=chosen.emitters,
        minutes=chosen.minutes,
        undisturbed_minutes=findings.undisturbed,
        happened=dict(sorted(findings.happened.items())),
        stack_happened=dict(sorted(findings.behind.items())),
        close_killed_at=findings.steps,
        closed_for_certain=sum(one.closed for each in findings.accounts.values() for one in each),
        differences=sum(map(len, findings.differences.values())),
    )
    print(kept.text())
    print("\n".join(sentences(findings)))
    is_right = not findings.differences and not findings.missing
    if chosen.record and is_right:
        print(f"recorded in {kept.write()}")
    return 0 if is_right else 1


def _command(chosen: argparse.Namespace) -> str:
    if (chosen.emitters, chosen.minutes) == (EMITTERS, MINUTES):
        return f"make chaos SEED={chosen.seed}"
    return (
        f"python -m proof.chaos --seed {chosen.seed} --emitters {chosen.emitters}"
        f" --minutes {chosen.minutes:g}"
    )


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:
        sys.exit("chaos: interrupted")
