"""
The path of one report through the code, as Python runs it: `python -m proof.walk`.

The running loop makes the line of a minute of twelve reports. The line becomes a record, the record
its cluster's rollup, the rollup a message and its hour rows of the ledger, through the functions
that do it on the instance and in the account. A move is a call from one file of the product into
another.
"""

from __future__ import annotations

import json
import sys
import tempfile
from collections import Counter
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, cast
from unittest import mock

from aggregator.arrivals import LogLine
from aggregator.close.run import CloseRun
from aggregator.environment import Environment, Rules
from aggregator.explain.event import read_transition
from aggregator.explain.notification import notify
from aggregator.ingest.intake import take_in
from aggregator.settle.purchases import packed_parts
from aggregator.settle.run import SettleRun
from local import REPOSITORY
from neuron_emitter.fold import FoldSettings
from neuron_emitter.reports.source import open_file
from neuron_emitter.run.identification import LocalSources
from neuron_emitter.run.loop import Emitter
from neuron_emitter.run.outlet import Outlet
from neuron_emitter.settings import RunSettings
from neuron_emitter.spool import Spool
from proof.memory_table import MemoryTable

if TYPE_CHECKING:
    from collections.abc import Callable
    from types import FrameType

    from aggregator.storage.ledger_objects import LedgerObjects

ROOMS: Final = tuple(f"{REPOSITORY / name}/" for name in ("emitter", "lambda"))
WALK_START_S: Final = 1_767_225_600
REPORTS_A_MINUTE: Final = 12
WALK_DATA: Final = REPOSITORY / "tests" / "data" / "walk"
REPORT: Final[dict[str, Any]] = json.loads((WALK_DATA / "report.json").read_text(encoding="utf-8"))
WALK_ALARM: Final[dict[str, Any]] = json.loads(
    (WALK_DATA / "alarm.json").read_text(encoding="utf-8")
)


@dataclass
class Stage:
    """
    One part of the walk.

    Attributes:
        name: Its start and its end.

        functions: Functions entered by file, both in the order of the first call.

        moves: Calls from one file into another.
    """

    name: str
    functions: dict[str, dict[str, None]] = field(default_factory=dict)
    moves: Counter[tuple[str, str]] = field(default_factory=Counter)

    def run(self, work: Callable[[], Any]) -> Any:
        """Run *work* and note each call into the product."""
        sys.setprofile(self._note_event)
        try:
            return work()
        finally:
            sys.setprofile(None)

    def _note_event(self, frame: FrameType, event: str, _: object) -> None:
        if event != "call" or not (file := _file_of(frame)):
            return
        name = frame.f_code.co_name
        if not name.startswith("<"):
            self.functions.setdefault(file, {})[name] = None
        above = frame.f_back
        while above is not None and not _file_of(above):
            above = above.f_back
        if above is not None and _file_of(above) != file:
            self.moves[_file_of(above), file] += 1


def _file_of(frame: FrameType) -> str:
    file = frame.f_code.co_filename
    return file[len(str(REPOSITORY)) + 1 :] if file.startswith(ROOMS) else ""


class Walk(NamedTuple):
    """The parts of a walk, and its results: the minute's line, the rollup's and the message."""

    stages: list[Stage]
    line: str
    rollup: str
    message: str


class _Bucket(dict[str, bytes]):
    """The ledger's bucket in memory."""

    put = dict.__setitem__


def _line_of(file: Path) -> str:
    """Return the line that the running emitter makes of the reports in *file*."""
    with closing(open_file(file)) as source, Spool(None, clock=lambda: WALK_START_S) as spool:
        emitter = Emitter(
            RunSettings(cluster="serving", input=str(file)),
            source,
            spool,
            mock.Mock(spec=Outlet),  # the line stays in the spool
            FoldSettings(runtime_lines="none"),
            local=LocalSources(),
            clock=lambda: WALK_START_S,
        )
        emitter.finish(input_ended=emitter.read_until(lambda: False))
        (record,) = spool.oldest(1, 1 << 20)
        return record.line


@cache
def walk() -> Walk:
    """Walk once; the first walk of a process fills its caches and is discarded."""
    _walk()
    return _walk()


def _walk() -> Walk:
    names = "report to line", "line to record", "record to rollup"
    stages = [Stage(name) for name in (*names, "rollup to message", "hour to ledger rows")]
    to_line, to_record, to_rollup, to_message, to_rows = stages
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reports.jsonl"
        file.write_text(f"{json.dumps(REPORT)}\n" * REPORTS_A_MINUTE, encoding="utf-8")
        line = to_line.run(lambda: _line_of(file))
    table = MemoryTable()
    printed: list[str] = []
    rules = Rules(idle_after_minutes=1)
    to_record.run(
        lambda: take_in(
            [LogLine("0", line)],
            table,
            rules.late_minutes,
            lambda: WALK_START_S + 70.0,
            in_packs=False,
        )
    )
    to_rollup.run(
        CloseRun(
            table=table,
            rules=rules,
            emit=printed.append,
            now_s=lambda: WALK_START_S + 185.0,
            remaining_s=lambda: 50.0,
            outlet=None,
        ).run
    )
    environment = Environment(
        table_name="records",
        stack_name="neuron-emf",
        rules=rules,
        own_log_groups=frozenset(),
        own_log_group=None,
        alarm_topic_arn="arn:aws:sns:us-east-1:123456789012:neuron-emf-alarms",
    )
    notification = to_message.run(
        lambda: notify(
            read_transition(WALK_ALARM),
            table,
            environment,
            lambda *_: None,
            WALK_START_S + 300.0,
            printer=lambda _: None,
        )
    )
    to_rows.run(
        lambda: SettleRun(
            table=table,
            rules=Rules(),
            ask_ec2=lambda: packed_parts({}),
            now_s=lambda: float(WALK_START_S + 4 * 3600),
            remaining_s=lambda: 900.0,
            connect=lambda: (table, cast("LedgerObjects", _Bucket())),
        ).run(WALK_START_S // 3600)
    )
    rollup = next(line for line in printed if '"Kind":"rollup"' in line)
    return Walk(stages, line, rollup, notification.message.text)


def main() -> None:
    """Print the files, functions and moves of each part."""
    stages = walk().stages
    print(f"{'':<22}{'files':>6}{'functions':>11}{'moves':>7}")
    for stage in stages:
        functions = sum(map(len, stage.functions.values()))
        print(f"{stage.name:<22}{len(stage.functions):>6}{functions:>11}{stage.moves.total():>7}")
    files = {file for stage in stages[:3] for file in stage.functions}
    print(f"{'report to rollup':<22}{len(files):>6}")


if __name__ == "__main__":
    main()
