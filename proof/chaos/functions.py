"""
Ingest and close as Lambda runs them: each invocation is a process that may die at any call.

The handlers are the real ones, with Powertools, on the table of `proof.memory_table`: each call of
the table and each printed line is a step. A killed process leaves the effects of its steps and
nothing more, including its lease. A table that refuses answers one call with an error.
"""

from __future__ import annotations

import contextlib
import io
import json
from collections import Counter
from dataclasses import dataclass, field
from functools import partial
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any
from unittest import mock

from aggregator import runtime
from aggregator.close import function as close
from aggregator.environment import Environment, Rules
from aggregator.ingest import function as ingest
from aggregator.storage.values import TableError
from proof.factories.invocations import Context
from proof.memory_table import KillableProcess, KilledError, MemoryTable, Step

if TYPE_CHECKING:
    from collections.abc import Callable

    from proof.logs.rules import Document

ROLLUPS_GROUP = "/neuron-emf/rollups"
INGEST_GROUP = "/neuron-emf/ingest"
TICK: dict[str, object] = {
    "version": "0",
    "detail-type": "Scheduled Event",
    "source": "aws.scheduler",
}
PRINT = "print"
HEALTH_STEP = "print_health"
DONE = "done"
FAILED = "failed"
KILLED = "killed"


def nothing() -> None:
    """Do nothing."""


@dataclass(frozen=True)
class InjectedFaults:
    """
    The faults of one invocation.

    Attributes:
        killed_at: The step at which it dies: its number, or the name of the call and its count;
            both from 1.

        after: True if it dies after the step had its effect.

        refused_at: Number of the step that the table answers with an error.

        meets_at: The step before which another process runs, in the same form.

        meets: The other process.

        pause: Runs between storing and reading the clock.

        remaining_s: Remaining seconds that the Lambda context reports to the function.
    """

    killed_at: Step | None = None
    after: bool = False
    refused_at: int | None = None
    meets_at: Step | None = None
    meets: Callable[[], None] = nothing
    pause: Callable[[], None] = nothing
    remaining_s: float = 50.0


@dataclass
class InvocationResult:
    """
    The result of one invocation.

    Attributes:
        ended: `DONE`, `FAILED` with an exception, or `KILLED`.

        answer: The handler's return value.

        error: The name of the exception.

        health: Sums of the function's metrics about itself.

        calls: Its steps by name, in order; the last is the one in which it died.
    """

    ended: str = DONE
    answer: Document = field(default_factory=dict)
    error: str = ""
    health: Counter[str] = field(default_factory=Counter)
    calls: list[str] = field(default_factory=list)


class _Life(KillableProcess):
    """The table and standard output for one invocation."""

    def __init__(self, table: MemoryTable, faults: InjectedFaults, seen: InvocationResult) -> None:
        super().__init__(
            table,
            [],
            killed_at=faults.killed_at,
            after=faults.after,
            meets_at=faults.meets_at,
            meets=faults.meets,
            calls=seen.calls,
        )
        self._refused_at = faults.refused_at

    def put_records(self, items: list[Any]) -> None:
        """Put items one step at a time: a write of many may succeed in part."""
        for item in items:
            self.do("put_records", partial(self.table.put_records, [item]))

    def do(self, name: str, effect: Callable[[], Any]) -> Any:
        """Do one step, unless the table refuses it."""
        is_refused = len(self.calls) + 1 == self._refused_at and name not in {PRINT, HEALTH_STEP}
        if is_refused and not self.is_dead:
            self.calls.append(name)
            msg = "the table is busy"
            raise TableError(msg)
        return super().do(name, effect)


class _Output:
    """Standard output, which passes on whole lines."""

    def __init__(self, take: Callable[[str], None]) -> None:
        self._take = take
        self._text = ""

    def write(self, text: str) -> int:
        *lines, self._text = (self._text + text).split("\n")
        for line in lines:
            self._take(line)
        return len(text)

    def flush(self) -> None:
        """Do nothing: a line is passed on as soon as it is complete."""


class Functions:
    """
    Both functions on one table.

    Attributes:
        table: The table.
    """

    def __init__(self, now_s: Callable[[], float], printed: Callable[[str], None]) -> None:
        """Call *printed* with each printed rollup line."""
        self.table = MemoryTable()
        self._printed = printed
        self._now_s = now_s
        self._settings = Environment(
            table_name="records",
            stack_name="chaos",
            rules=Rules(),
            own_log_groups=frozenset({ROLLUPS_GROUP, INGEST_GROUP}),
            own_log_group=INGEST_GROUP,
        )

    def ingest(self, event: Document, faults: InjectedFaults) -> InvocationResult:
        """Invoke ingest once."""
        looks = iter([nothing, faults.pause])

        def now_s() -> float:
            next(looks, nothing)()
            return self._now_s()

        return self._invoke(ingest, event, faults, now_s)

    def close(self, faults: InjectedFaults) -> InvocationResult:
        """Invoke close once."""
        return self._invoke(close, TICK, faults, self._now_s)

    def _invoke(
        self, module: Any, event: Document, faults: InjectedFaults, now_s: Callable[[], float]
    ) -> InvocationResult:
        seen = InvocationResult()
        life = _Life(self.table, faults, seen)
        output = _Output(lambda line: self._take(line, life, seen))
        context = Context(remaining_s=faults.remaining_s)
        replace = mock.patch.object
        with (
            replace(runtime, "stack", lambda: (self._settings, life)),
            replace(module, "time", SimpleNamespace(time=now_s)),
            replace(module.logger.registered_handler, "stream", io.StringIO()),  # output for people
            replace(module.logger._logger, "propagate", new=False),
            contextlib.redirect_stdout(output),
        ):
            try:
                seen.answer = module.handler(event, context)
            except KilledError:
                seen.ended = KILLED
            except Exception as error:  # noqa: BLE001 - Lambda takes any for a failure
                seen.ended = FAILED
                seen.error = type(error).__name__
        return seen

    def _take(self, line: str, life: _Life, seen: InvocationResult) -> None:
        document = json.loads(line)
        if document.get("Kind"):
            life.do(PRINT, lambda: self._printed(line))
            return
        # Powertools writes metrics as lists and properties as numbers.
        amounts = {
            name: sum(value) if isinstance(value, list) else value
            for name, value in document.items()
            if name not in ("_aws", "StackName")
        }
        life.do(HEALTH_STEP, lambda: seen.health.update(amounts))
