"""
One minute closed, in a process of its own: `python -m benchmarks.stack.close_runs`.

The minute before it has been closed by the same process, so that the registry
knows every instance, as at any later minute. All of the function is loaded, so
that its memory is in the figure.
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import multiprocessing
import os
import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

from aggregator import aws, close  # noqa: F401  # all that the function loads counts
from aggregator.close.run import CloseRun
from aggregator.environment import Rules
from aggregator.minutes import end_s
from aggregator.storage.dynamodb import Requests
from aggregator.storage.table import Table
from aggregator.storage.values import CloseProgress
from benchmarks.reports import environment
from benchmarks.stack.dynamodb import StandIn, Use
from benchmarks.stack.fleet import MINUTE
from benchmarks.stack.processes import peak_mib, processor_s
from neuron_emf.cost.measurements import CloseMeasurement

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from aggregator.close.outcome import CloseOutcome

ALL_HAVE_REPORTED_S: Final = 60  # after the end of a minute
_PLENTY_S: Final = 1_000.0


def closed(folder: Path, *, boto3: bool = False, processes: int = 1) -> CloseMeasurement:
    """
    Close the minute that `prepare` wrote into *folder*; with *boto3* through its client.

    Several *processes* need it.
    """
    command = [sys.executable, "-m", "benchmarks.stack.close_runs", str(folder.resolve())]
    ended = subprocess.run(
        [*command, *(["--boto3"] if boto3 else []), "--processes", str(processes)],
        stdout=subprocess.PIPE,
        env=environment(),
        check=True,
    )
    return CloseMeasurement(**json.loads(ended.stdout))


@dataclasses.dataclass
class _Children:
    """
    What the processes of a run did, seen when it remembers what they learnt: then they wait.

    Attributes:
        folder: Where each writes down what its table was asked.

        cpu_s: Processor time of each, without what the table would do.

        calls: Its requests.

        read_units: Of all.

        peak_mib: Of all together, what they share counted each time.
    """

    folder: Path
    cpu_s: list[float] = dataclasses.field(default_factory=list)
    calls: list[int] = dataclasses.field(default_factory=list)
    read_units: float = 0.0
    peak_mib: float = 0.0

    def look(self) -> None:
        for process in (one.pid for one in multiprocessing.active_children()):
            own_s, calls, read_units = json.loads((self.folder / str(process)).read_text())
            self.cpu_s.append(processor_s(process or 0) - own_s)
            self.calls.append(calls)
            self.read_units += read_units
            self.peak_mib += peak_mib(process or 0)


class _WatchedTable(Table):
    children: _Children | None = None

    def write_registry(self, bucket: int, payload: bytes) -> None:
        """Look at the processes, once."""
        if self.children is not None and not self.children.calls:
            self.children.look()
        super().write_registry(bucket, payload)


def close_two(folder: Path, *, boto3: bool, processes: int = 1) -> CloseMeasurement:
    """Close the minute before and then the minute, which is measured."""
    stand_in = StandIn(folder)
    if boto3:
        stand_in.behind_boto3()
    client = aws.client("dynamodb") if boto3 else stand_in
    table = _WatchedTable(Requests(client, "neuron-emf"))
    table.write_progress(CloseProgress(MINUTE - 1, (), MINUTE - 1))
    _close(table, MINUTE - 1, [])

    def connect() -> Table:
        stand_in.use, stand_in.own_s, stand_in.notes = Use(), 0.0, folder / str(os.getpid())
        return Table.connect("neuron-emf")

    children = table.children = _Children(folder)
    stand_in.use, stand_in.own_s = Use(), 0.0
    printed: list[str] = []
    begun = time.process_time()
    outcome = _close(table, MINUTE, printed, processes, connect)
    cpu_s = time.process_time() - begun - stand_in.own_s
    if (outcome.minutes_closed, outcome.records_unreadable) != (1, 0):
        msg = f"one minute was to be closed, found {outcome}"
        raise RuntimeError(msg)
    return CloseMeasurement(
        cpu_s=cpu_s,
        peak_mib=peak_mib() + children.peak_mib,
        records=outcome.records_read,
        lines=outcome.lines_printed,
        printed_bytes=sum(len(line.encode()) for line in printed),
        metrics=len({metric for line in printed for metric in _metrics(line)}),
        calls=stand_in.use.calls + sum(children.calls),
        read_units=stand_in.use.read_units + children.read_units,
        write_units=stand_in.use.write_units,
        largest_item_bytes=stand_in.use.largest_item_bytes,
        busiest_cpu_s=max(children.cpu_s, default=0.0),
        busiest_calls=max(children.calls, default=0),
    )


def _close(
    table: Table,
    minute: int,
    printed: list[str],
    processes: int = 1,
    connect: Callable[[], Table] | None = None,
) -> CloseOutcome:
    return CloseRun(
        table=table,
        rules=Rules(),
        emit=printed.append,
        now_s=lambda: float(end_s(minute) + ALL_HAVE_REPORTED_S),
        remaining_s=lambda: _PLENTY_S,
        processes=processes,
        connect=connect,
    ).run()


def _metrics(line: str) -> Iterator[tuple[str, ...]]:
    """Namespace, name and dimensions of each metric that *line* defines."""
    document = json.loads(line)
    for directive in document["_aws"]["CloudWatchMetrics"]:
        for dimensions in directive["Dimensions"]:
            values = [f"{name}={document[name]}" for name in sorted(dimensions)]
            for metric in directive["Metrics"]:
                yield (directive["Namespace"], metric["Name"], *values)


def main(arguments: Sequence[str]) -> int:
    """Close the minute of one folder, and print what it took as JSON."""
    parser = argparse.ArgumentParser(prog="python -m benchmarks.stack.close_runs")
    parser.add_argument("folder", type=Path, help="what `prepare` wrote")
    parser.add_argument("--boto3", action="store_true", help="through boto3's client")
    parser.add_argument("--processes", type=int, default=1, help="that read, through boto3")
    chosen = parser.parse_args(arguments)
    found = close_two(chosen.folder, boto3=chosen.boto3, processes=chosen.processes)
    sys.stdout.write(json.dumps(dataclasses.asdict(found)) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
