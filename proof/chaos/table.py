"""What a run came to, as rows: one for each cluster and one for all."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from proof.chaos.hosts.promises import RecordBalance
    from proof.chaos.run import Findings

HEADS = (
    "cluster", "emitters", "records produced", "delivered", "duplicated on the wire",
    "dropped by reason", "minutes closed", "rollups compared", "differences",
)  # fmt: skip
ALL = "all"
CLOSE_KILLED = "close killed"


def rows(found: Findings) -> list[tuple[str, ...]]:
    """As text; the last row is that of all."""
    cells = [
        _row(cluster, accounts, found.rollups[cluster], len(found.differences.get(cluster, [])))
        for cluster, accounts in sorted(found.accounts.items())
    ]
    everything = [one for accounts in found.accounts.values() for one in accounts]
    differences = sum(len(each) for each in found.differences.values())
    return [*cells, _row(ALL, everything, found.rollups.total(), differences)]


def sentences(found: Findings) -> Iterator[str]:
    """What stands under the table."""
    closed = sum(one.closed for accounts in found.accounts.values() for one in accounts)
    yield f"{closed} minutes were surely closed before their emitter ended, and were looked for"
    yield (
        f"{found.undisturbed} minutes in which nothing befell an instance were compared with what "
        "its monitor produced"
    )
    yield f"hosts, network and service: {_listed(found.happened)}"
    killed = sum(count for kind, count in found.behind.items() if kind.startswith(CLOSE_KILLED))
    rest = {kind: one for kind, one in found.behind.items() if not kind.startswith(CLOSE_KILLED)}
    hit, steps = found.steps
    yield f"the stack: {CLOSE_KILLED} {killed}, at {hit} of {steps} places; {_listed(rest)}"
    if found.missing:
        yield f"what was expected to happen and did not: {', '.join(found.missing)}"
    for cluster in sorted(found.differences):
        for sentence in found.differences[cluster]:
            yield f"{cluster or ALL}: {sentence}"


def _listed(happened: Mapping[str, int]) -> str:
    return ", ".join(f"{kind} {count}" for kind, count in sorted(happened.items()) if count)


def _row(
    name: str, accounts: Sequence[RecordBalance], rollups: int, differences: int
) -> tuple[str, ...]:
    dropped: Counter[str] = Counter()
    for balance in accounts:
        dropped += balance.dropped
    return (
        name,
        str(len(accounts)),
        f"{sum(one.produced for one in accounts):,}",
        f"{sum(one.delivered for one in accounts):,}",
        f"{sum(one.copies for one in accounts):,}",
        ", ".join(f"{reason} {count}" for reason, count in sorted(dropped.items())) or "0",
        f"{sum(one.minutes for one in accounts):,}",
        f"{rollups:,}",
        f"{differences:,}",
    )
