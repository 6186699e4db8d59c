"""
When each runtime last ended an execution, remembered over minutes and restarts.

What has a pid and a tag afterwards may be another process. So a runtime is forgotten
after a minute whose reports do not list it, after ten minutes in which none listed
any, and when its owner is another.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import msgspec

from emitter.fold.idle import FORGOTTEN_AFTER_MINUTES
from emitter.fold.runtime_fold import MAX_RUNTIMES
from emitter.fold.runtime_owner import NOBODY
from neuron_wire.holders import MAX_NAME_CHARS, printable

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from emitter.fold.runtime_fold import RuntimeFold
    from emitter.fold.runtime_owner import RuntimeKey, RuntimeOwner

_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
_Text = Annotated[str, msgspec.Meta(max_length=MAX_NAME_CHARS)]


class RuntimeHistory(msgspec.Struct, omit_defaults=True):
    """
    One runtime.

    Attributes:
        pid: Process id as neuron-monitor sees it.

        tag: Its `neuron_runtime_tag`, as much as a line has.

        owner: Whose it was, as far as anybody said.

        executed: The last epoch minute in which it ended an execution, None before the first.
    """

    pid: int | None = None
    tag: _Text | None = None
    owner: _Text | None = None
    executed: _Count | None = None


class RuntimeHistories(msgspec.Struct, omit_defaults=True):
    """
    Those of the runtimes that the last reports listed.

    Attributes:
        watched: Last epoch minute in which reports listed any runtime, or None.

        runtimes: One each.
    """

    watched: _Count | None = None
    runtimes: Annotated[list[RuntimeHistory], msgspec.Meta(max_length=MAX_RUNTIMES)] = []

    def close(
        self,
        label: int,
        folds: Iterable[RuntimeFold],
        owners: Mapping[RuntimeKey, RuntimeOwner],
        *,
        is_nobody: bool,
    ) -> None:
        """Take in the epoch minute *label*; where no report lists any, it changes nothing."""
        if self.watched is not None and abs(label - self.watched) > FORGOTTEN_AFTER_MINUTES:
            self.watched = None
            self.runtimes = []
        before = {(one.pid, one.tag): one for one in self.runtimes}
        runtimes: list[RuntimeHistory] = []
        for fold in folds:
            if fold.key is None:
                continue
            name = printable(owners.get(fold.key, NOBODY).name)
            history = before.get(fold.key)
            if history is None or None is not name != history.owner is not None:
                history = RuntimeHistory(*fold.key)
            history.owner = name or history.owner
            if fold.executions.ended:
                history.executed = label
            runtimes.append(history)
        if runtimes or is_nobody:
            self.runtimes = runtimes
            self.watched = label if self.watched is None else max(self.watched, label)

    def executed(self, label: int) -> dict[RuntimeKey, int]:
        """The last epoch minute, up to *label*, in which each ended an execution."""
        return {
            (one.pid, one.tag): one.executed
            for one in self.runtimes
            if one.executed is not None and one.executed <= label
        }
