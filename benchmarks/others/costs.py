"""
The emitter and another way in turns: `python -m benchmarks.others.costs WHAT FOLDER ROUNDS`.

A process of its own, whose processor time is all that counts: what it sends to
is another process. Its reports are the simulated neuron-monitor's, its minute
lines those that the emitter makes of them. JSON on standard output.
"""

from __future__ import annotations

import contextlib
import json
import subprocess
import sys
from dataclasses import asdict, dataclass, replace
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING, Final

from benchmarks import reports
from benchmarks.instance import MeasuredEmitter, Minutes
from benchmarks.others.shippers import GROUP, STREAM, Watchtower
from benchmarks.sink import PUT_LOG_EVENTS, PUT_METRIC_DATA, Sink
from benchmarks.turns import in_turns
from emitter.delivery.cloudwatch_logs import LogStream
from emitter.delivery.lines_out import StreamDestination
from emitter.lines import Lines, LineSettings

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from emitter.delivery.destination import Destination

CORES: Final = 32
BATCH_LINES: Final = 100  # as after an hour and a half without a network
_WATCHTOWER_S: Final = 60  # its default; each round ends with a flush


@dataclass(frozen=True, slots=True)
class Compared:
    """
    One piece of work done by the emitter and by another, the medians of the rounds.

    Attributes:
        ours_s: Seconds of processor time.

        theirs_s: The same, of the other.

        ratio: Of theirs to ours, the median of the pairs.

        ours_bytes: What the emitter printed or sent, an execution.

        theirs_bytes: The same, of the other.

        ours_calls: Requests of an execution.

        theirs_calls: The same, of the other.
    """

    ours_s: float
    theirs_s: float
    ratio: float
    ours_bytes: float = 0.0
    theirs_bytes: float = 0.0
    ours_calls: float = 0.0
    theirs_calls: float = 0.0


def compared(what: str, folder: Path, rounds: int) -> Compared:
    """One of `COMPARISONS`, in a process of its own."""
    folder.mkdir()
    with Sink() as sink:
        ended = subprocess.run(
            [sys.executable, "-m", "benchmarks.others.costs", what, str(folder), str(rounds)],
            stdout=subprocess.PIPE,
            env=reports.environment(
                HOME=str(folder), AWS_EMF_ENVIRONMENT="Local", **sink.variables
            ),
            check=True,
        )
        result = Compared(**json.loads(ended.stdout))
        if not sink.calls[PUT_METRIC_DATA]:
            return result
        executions = rounds + 1
        return replace(
            result,
            ours_bytes=sink.sent_bytes[PUT_LOG_EVENTS] / executions,
            theirs_bytes=sink.sent_bytes[PUT_METRIC_DATA] / executions,
            ours_calls=sink.calls[PUT_LOG_EVENTS] / executions,
            theirs_calls=sink.calls[PUT_METRIC_DATA] / executions,
        )


def _printed(minute: Sequence[bytes], folder: Path, rounds: int) -> Compared:
    from benchmarks.others.embedded import emit  # noqa: PLC0415 only now: it brings aiohttp

    files = (folder / "ours", folder / "theirs")
    with (
        files[0].open("w") as ours,
        files[1].open("w") as theirs,
        _instance(folder, StreamDestination(ours)) as instance,
    ):

        def embedded() -> None:
            with contextlib.redirect_stdout(theirs):
                for line in minute:
                    emit(line)

        found = _in_turns(lambda: instance.minute(minute), embedded, rounds)
    sizes = [file.stat().st_size / (rounds + 1) for file in files]
    return replace(found, ours_bytes=sizes[0], theirs_bytes=sizes[1])


def _sent(minute: Sequence[bytes], folder: Path, rounds: int) -> Compared:
    from benchmarks.others.metric_calls import MetricCaller  # noqa: PLC0415 connects

    caller = MetricCaller()
    with _instance(folder, LogStream(GROUP, STREAM)) as instance:

        def calls() -> None:
            for line in minute:
                caller.emit(line)

        return _in_turns(lambda: instance.minute(minute), calls, rounds)


def _shipped(lines: Sequence[str], folder: Path, rounds: int) -> Compared:
    logger = Watchtower(_WATCHTOWER_S)
    with _instance(folder, LogStream(GROUP, STREAM)) as instance:
        return _in_turns(lambda: instance.ship(lines), lambda: logger.send(lines), rounds)


COMPARISONS: Final[Mapping[str, Callable[[Path, int], Compared]]] = {
    "printed-2": lambda folder, rounds: _printed(reports.usual(), folder, rounds),
    "printed-32": lambda folder, rounds: _printed(reports.wide(CORES), folder, rounds),
    "sent-2": lambda folder, rounds: _sent(reports.usual(), folder, rounds),
    "sent-32": lambda folder, rounds: _sent(reports.wide(CORES), folder, rounds),
    "shipped-1": lambda folder, rounds: _shipped([_minute_line()], folder, rounds),
    "shipped-100": lambda folder, rounds: _shipped([_minute_line()] * BATCH_LINES, folder, rounds),
}
"""What is compared, and of how many cores or lines."""


def _in_turns(ours: Callable[[], object], theirs: Callable[[], object], rounds: int) -> Compared:
    ours()  # the first opens connections and loads what is loaded late
    theirs()
    turns = in_turns(theirs, ours, rounds=rounds, times=1)
    return Compared(median(turns.theirs_s), median(turns.ours_s), turns.ratio)


def _minute_line() -> str:
    minutes = Minutes()
    minutes.read(reports.wide(CORES))
    return Lines(LineSettings()).minute(minutes.close(1))[0]


@contextlib.contextmanager
def _instance(folder: Path, destination: Destination) -> Iterator[MeasuredEmitter]:
    instance = MeasuredEmitter(folder / "spool", destination)
    try:
        yield instance
    finally:
        instance.close()


def main(arguments: Sequence[str]) -> int:
    """Measure, and print it as JSON; the exit code."""
    match arguments:
        case [what, folder, rounds] if what in COMPARISONS:
            result = COMPARISONS[what](Path(folder), int(rounds))
        case _:
            sys.stderr.write(f"expected one of {', '.join(COMPARISONS)}, a folder and rounds\n")
            return 2
    sys.stdout.write(json.dumps(asdict(result)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
