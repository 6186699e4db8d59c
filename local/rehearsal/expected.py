"""What the rollups must say of this fleet, by the simulators' truth files and its cast."""

from __future__ import annotations

from typing import TYPE_CHECKING

from local.monitor.processes import name_of
from local.monitor.truth import expected_minutes, expected_rollups, read_truth
from local.rehearsal.fleet import FLEET
from neuron_wire.names import MINUTE_S

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from local.monitor.intervals import Expected
    from local.rehearsal.figures import ClusterMinute
    from local.rehearsal.fleet import LiveFleet
    from local.rehearsal.past import Past


def expected_past(past: Past) -> dict[ClusterMinute, Expected]:
    """What the rollups of the history must come to."""
    return _expected([past.truth(member) for member in FLEET], 0)


def expected_live(
    fleet: LiveFleet, stopped_s: float, margin_ms: int
) -> dict[ClusterMinute, Expected]:
    """
    What the rollups of the live minutes that were over at *stopped_s* must come to.

    From the first minute on in which every instance wrote a report: what an
    emitter without one says about its first minute depends on when it woke up.
    """
    began_s: dict[str, int] = {}
    for report in read_truth(fleet.written_truths):
        minute_s = report.at_ms // 1000 // MINUTE_S * MINUTE_S
        began_s[report.instance] = min(minute_s, began_s.get(report.instance, minute_s))
    all_there_s = max(began_s.values(), default=0)
    expected = _expected(fleet.written_truths, margin_ms)
    return {
        (cluster, minute_s): one
        for (cluster, minute_s), one in expected.items()
        if minute_s >= all_there_s and minute_s + MINUTE_S <= stopped_s
    }


def core_owners() -> dict[str, dict[int, str]]:
    """Whose each held core is, by instance id and core: the names that people shall read."""
    return {
        member.instance_id: {
            core: name_of(owner)
            for runtime, owner in zip(member.simulated.runtimes, member.owners, strict=True)
            for core in runtime.held
        }
        for member in FLEET
    }


def _expected(truths: Iterable[Path], margin_ms: int) -> dict[ClusterMinute, Expected]:
    cluster_of = {member.instance_id: member.cluster for member in FLEET}
    minutes = expected_minutes(read_truth(truths), margin_ms=margin_ms)
    rollups = expected_rollups(minutes, cluster_of)
    return {(cluster, at_ms // 1000): one for (cluster, at_ms), one in rollups.items()}
