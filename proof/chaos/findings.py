"""What a run came to, put together from what every part of it knows."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from local.monitor.truth import read_truth
from proof.chaos.hosts.certain_minutes import surely_closed, undisturbed
from proof.chaos.hosts.host_program import sightings
from proof.chaos.hosts.promises import RecordBalance, account
from proof.chaos.truth import comparison as truth

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from proof.chaos.hosts.host import ChaosHost
    from proof.chaos.stack.stack import ChaosStack
    from proof.chaos.truth.comparison import Undisturbed
    from proof.logs.rules import Applied


@dataclass
class Findings:
    """
    What a run came to.

    Attributes:
        accounts: By cluster, of all its hosts.

        rollups: Rollups compared, by cluster.

        undisturbed: Minutes compared with what the monitors produced.

        happened: Troubles of hosts, network and service.

        behind: Troubles of the stack.

        steps: Of close at which it was killed, before and after them, and how many there are.

        missing: Kinds that did not.

        differences: By cluster, with host and minute; under an empty name what is of none.
    """

    accounts: dict[str, list[RecordBalance]] = field(default_factory=dict)
    rollups: Counter[str] = field(default_factory=Counter)
    undisturbed: int = 0
    happened: Counter[str] = field(default_factory=Counter)
    behind: Counter[str] = field(default_factory=Counter)
    steps: tuple[int, int] = (0, 0)
    missing: list[str] = field(default_factory=list)
    differences: dict[str, list[str]] = field(default_factory=dict)

    def differ(self, cluster: str, sentence: str) -> None:
        """One more thing that is not as it should be."""
        self.differences.setdefault(cluster, []).append(sentence)


def findings(
    seed: int,
    hosts: Sequence[ChaosHost],
    applied: Sequence[Applied],
    functions: ChaosStack,
    ended_ms: int,
) -> Findings:
    """What *hosts* and the stack's *functions* made of it, given what the service has *applied*."""
    result = Findings(
        behind=Counter(functions.happened), steps=functions.killed_at, missing=functions.missing()
    )
    calm: list[Undisturbed] = []
    by_stream: dict[str, list[tuple[int, str]]] = {}
    for one in applied:
        by_stream.setdefault(one.stream, []).append((one.timestamp_ms, one.message))
    for host in hosts:
        name, cluster = host.instance.instance_id, host.instance.cluster
        result.happened += host.notes.happened
        closed: set[int] = set()
        for life in host.notes.lives:
            reports = read_truth([life.truth]) if life.truth.exists() else []
            seen = sightings(life.seen)
            closed |= surely_closed(seen, reports)
            calm += undisturbed(name, reports, seen, host.notes.moves)
        of_host = account(host.notes, by_stream.get(name, []), closed, ended_ms)
        result.accounts.setdefault(cluster, []).append(of_host)
        for sentence in of_host.wrong:
            result.differ(cluster, f"seed {seed}, {name}: {sentence}")
    _compare(result, seed, applied, functions, calm)
    return result


def _compare(
    found: Findings,
    seed: int,
    applied: Iterable[Applied],
    functions: ChaosStack,
    calm: list[Undisturbed],
) -> None:
    compared = truth.compare(
        applied, functions.printed, calm, restated=functions.restated, closed=functions.closed
    )
    found.rollups, found.undisturbed = compared.rollups, compared.undisturbed_minutes
    for one in compared.differences:
        found.differ(one.cluster, f"seed {seed}, {one}")
    for complaint in functions.complaints:
        found.differ("", f"seed {seed}, {complaint}")
