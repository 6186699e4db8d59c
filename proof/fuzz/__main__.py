"""
Fuzz every reader of what others wrote, for a bounded time: `python -m proof.fuzz`.

Needs atheris, which `make fuzz` installs; it finds inputs by the branches that
they take. What it finds is kept in `proof/fuzz/found`, where the tests read it
again. Decompression bombs are no search: all there are are taken in.
"""

from __future__ import annotations

import argparse
import importlib.util
import shlex
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

sys.path.insert(0, str(Path(__file__).resolve().parent.parent.parent / "lambda"))

from proof.fuzz import bombs, host_bombs
from proof.fuzz.run import INNER, FuzzRun, fuzz, fuzzed
from proof.fuzz.targets import PLACES

if TYPE_CHECKING:
    from collections.abc import Sequence

HEADS: Final = ("target", "executions", "seconds", "findings", "peak memory")
SHOWN_BYTES: Final = 400
SHOWN_LINES: Final = 25


def main(arguments: Sequence[str]) -> int:
    """Fuzz; 1 when something was found, 2 for a usage error."""
    if arguments[:1] == [INNER]:
        fuzz(arguments[1], list(arguments[2:]))
    chosen = _chosen(arguments)
    unknown = [name for name in chosen.targets if name not in {*PLACES, *BOMBS}]
    if unknown:
        listed = ", ".join([*PLACES, *BOMBS])
        sys.stderr.write(f"no target is called {unknown[0]!r}; the targets are {listed}\n")
        return 2
    if importlib.util.find_spec("atheris") is None:  # most people never fuzz
        sys.stderr.write(
            "atheris is not installed, so nothing was fuzzed: use make fuzz, which installs it "
            "where it has wheels (Linux)\n"
        )
        return 2 if chosen.record else 0
    return _run(chosen)


def _run(chosen: argparse.Namespace) -> int:
    from benchmarks.record import made  # noqa: PLC0415  # its libraries are of no use to a child

    begun_s = time.monotonic()
    names = chosen.targets or [*PLACES, *BOMBS]
    readers = [name for name in names if name in PLACES]
    share_s = max(1, chosen.seconds // max(1, len(readers)))
    rows: list[tuple[str, ...]] = []
    findings = executions = 0
    for name in names:
        if name in BOMBS:
            row, count = _bombs(name)
        else:
            run = fuzzed(name, share_s, chosen.seed, chosen.report)
            row, count = _row(run)
            executions += run.executions
            _show(run)
        rows.append(row)
        findings += count
        sys.stderr.write(f"{name}: {row[1]} executions, {count} findings\n")
    command = f"make fuzz SECONDS={chosen.seconds}"
    facts = {"executions": executions, "findings": findings, "targets": len(rows)}
    record = made("fuzz", command, time.monotonic() - begun_s, HEADS, rows, **facts)
    sys.stdout.write(f"{record.text()}\n{record.how}\n")
    if chosen.record:
        sys.stdout.write(f"kept in {record.write()}\n")
    return 1 if findings else 0


def _row(run: FuzzRun) -> tuple[tuple[str, ...], int]:
    count = max(len(run.found), int(bool(run.failure)))
    seconds, memory = f"{run.seconds:.0f}", f"{run.peak_mib} MiB"
    return (run.name, f"{run.executions:,}", seconds, str(count), memory), count


def _bombs(name: str) -> tuple[tuple[str, ...], int]:
    begun_s = time.monotonic()
    count, peak_mib, problems = BOMBS[name]()
    for problem in problems:
        sys.stdout.write(f"{problem}\n")
    took_s = time.monotonic() - begun_s
    cells = (name, str(count), f"{took_s:.0f}", str(len(problems)), f"{peak_mib:.0f} MiB")
    return cells, len(problems)


def _decompression_bombs() -> tuple[int, float, list[str]]:
    """How many there are, the most memory that one took, MiB, and what is wrong."""
    ran = bombs.run()
    return len(ran), max(mib for _, mib in ran.values()), bombs.broken_promises(ran)


def _host_bombs() -> tuple[int, float, list[str]]:
    """The same of those on the host."""
    peaks: dict[str, float] = {}
    problems = []
    for name in host_bombs.BOMBS:
        try:
            peaks[name] = host_bombs.peak_mib(name)
        except Exception as error:  # noqa: BLE001, PERF203 - whatever it is, it is a finding
            problems.append(f"{name}: {type(error).__name__}: {error}"[:SHOWN_BYTES])
    problems += [
        f"{name}: took {mib:.0f} MiB, expected less than {host_bombs.MOST_MIB}"
        for name, mib in peaks.items()
        if mib >= host_bombs.MOST_MIB
    ]
    return len(host_bombs.BOMBS), max(peaks.values()), problems


BOMBS: Final = {"decompression bombs": _decompression_bombs, "bombs on the host": _host_bombs}


def _show(run: FuzzRun) -> None:
    """What was found, so that it can be looked at and kept."""
    if not run.failure:
        return
    sys.stdout.write(f"\n{run.name}: the promise was broken\n")
    lines = [line for line in run.failure.splitlines() if not line.startswith(("INFO:", "stat::"))]
    sys.stdout.write("".join(f"  {line[:200]}\n" for line in lines[-SHOWN_LINES:]))
    for path in run.found:
        content = path.read_bytes()
        sys.stdout.write(f"  {len(content)} bytes: {content[:SHOWN_BYTES]!r}\n")
        sys.stdout.write(
            f"  kept; the tests read it from now on: git add {shlex.quote(str(path))}\n"
        )


def _chosen(arguments: Sequence[str]) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m proof.fuzz", description=__doc__)
    parser.add_argument("targets", nargs="*", metavar="TARGET", help="by default all of them")
    parser.add_argument("--seconds", type=int, default=60, help="shared among targets (60)")
    parser.add_argument("--seed", type=int, default=1, help="of the search (1)")
    parser.add_argument(
        "--report",
        type=Path,
        action="append",
        default=[],
        metavar="FILE",
        help="a report that neuron-monitor wrote, to begin with",
    )
    parser.add_argument("--record", action="store_true", help="keep the table in docs/figures")
    return parser.parse_args(arguments)


if __name__ == "__main__":
    try:
        sys.exit(main(sys.argv[1:]))
    except KeyboardInterrupt:
        sys.exit(130)
