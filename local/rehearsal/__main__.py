"""
`python -m local.rehearsal`: the whole system on this machine, for a time or until Ctrl-C.

Exit codes: 0 ended as requested or by Ctrl-C, 1 with --seconds a rollup was missing or wrong, 2
usage error, 3 a part could not be started or ended early, 128 + n stopped by signal n before its
end.
"""

from __future__ import annotations

import argparse
import contextlib
import os
import signal
import sys
from typing import TYPE_CHECKING, Final

from local.embedded_aws.child_processes import EmbeddedAwsError
from local.embedded_aws.clients import SDK_ERRORS
from local.rehearsal.live_fleet import REHEARSED_FLEET
from local.rehearsal.rehearsal import Rehearsal
from local.rehearsal.workspace import StoppedError, Workspace
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from local.rehearsal.rehearsal import RehearsalOutcome

MOST_SECONDS: Final = 86_400
EXIT_COULD_NOT: Final = 3
EXIT_INTERRUPTED: Final = 130  # 128 + SIGINT, as shells report it
EXIT_NO_READER: Final = 141  # 128 + SIGPIPE


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one rehearsal. Return the exit code."""
    options = _parser().parse_args(arguments)
    print(
        f"neuron-emf on this machine: {len(REHEARSED_FLEET)} simulated instances, the real "
        "emitter on each,\n"
        "and template.yaml in an AWS emulator, without an account. It leaves nothing behind."
    )
    with _own_terminal(), Workspace() as workspace:
        code = _rehearsed(workspace, options.seconds)
    if code > 128:
        print("All its processes have stopped.")
    return code


def _rehearsed(workspace: Workspace, seconds: int | None) -> int:
    try:
        outcome = Rehearsal(workspace).run(seconds)
    except StoppedError as stopped:
        print(f"\nStopping everything that was started: {stopped}.", flush=True)
        return 128 + stopped.signal_number
    except EmbeddedAwsError as error:
        print(f"\nrehearsal: {error}\n\n{error.output}".rstrip(), file=sys.stderr)
        return EXIT_COULD_NOT
    except SDK_ERRORS as error:
        print(f"\nrehearsal: the embedded AWS did not answer: {error}", file=sys.stderr)
        return EXIT_COULD_NOT
    _report(outcome)
    return 1 if outcome.problems and seconds else 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="python -m local.rehearsal",
        description="The whole of neuron-emf on this machine, without an AWS account.",
        epilog="Exit codes: 0 ended as asked or by Ctrl-C, 1 with --seconds a rollup was missing "
        "or wrong, 2 usage error, 3 something could not be started or ended early, 128 + n stopped "
        "by signal n.",
    )
    parser.add_argument(
        "--seconds",
        type=_seconds,
        metavar="N",
        help="Run for N seconds, and fail if a rollup differs from the simulation; default: until "
        "Ctrl-C.",
    )
    return parser


def _seconds(text: str) -> int:
    if not (text.isascii() and text.isdigit() and 1 <= int(text) <= MOST_SECONDS):
        msg = f"Invalid value {text[:20]!r}. Use 1 to {MOST_SECONDS}."
        raise argparse.ArgumentTypeError(msg)
    return int(text)


def _report(outcome: RehearsalOutcome) -> None:
    counts = outcome.history_rollups, outcome.live_rollups
    compared = "{} rollups of the replayed hour and {} live ones".format(*counts)
    if outcome.problems:
        print(f"WRONG: of {compared}, in {counted(len(outcome.problems), 'place')}:")
        for problem in outcome.problems:
            print(f"  * {problem}")
    else:
        print(f"RIGHT: {compared} are what was simulated.\n{outcome.amounts}")
    sys.stdout.flush()


@contextlib.contextmanager
def _own_terminal() -> Iterator[None]:
    """Make Ctrl-C reach this process and not make, which would report an error."""
    try:
        terminal = os.open("/dev/tty", os.O_RDWR)
        before = os.tcgetpgrp(terminal)
    except OSError:  # no terminal
        yield
        return
    ignored = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
    try:
        if before == os.getpgrp() and os.getpid() != before:
            os.setpgid(0, 0)
            os.tcsetpgrp(terminal, os.getpgrp())
        yield
    finally:
        os.tcsetpgrp(terminal, before)
        signal.signal(signal.SIGTTOU, ignored)
        os.close(terminal)


if __name__ == "__main__":
    try:
        sys.exit(main())
    except KeyboardInterrupt:  # before it handles signals
        sys.exit(EXIT_INTERRUPTED)
    except BrokenPipeError:
        # The reader has exited; without this the interpreter reports an error when it flushes at
        # its end.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        sys.exit(EXIT_NO_READER)
