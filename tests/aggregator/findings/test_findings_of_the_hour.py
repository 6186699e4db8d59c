"""The rehearsal's hour, and what of it programs are told."""

from __future__ import annotations

from aggregator.findings.book import FindingsOutlet
from aggregator.findings.detail import EvidenceGroups
from tests.hour import rollups_of


def test_the_instances_that_are_idle_all_hour_are_found(hour):
    """Each opens after 15 minutes and worsens at 30 and 60; no other is wholly idle."""
    told = []

    def put(details):
        told.extend(details)
        return [True] * len(details)

    rollups_of(hour.lines, FindingsOutlet(put, EvidenceGroups("records", "rollups")))
    idle = [one for one in told if one["Kind"] == "idle-instance"]
    assert {
        (name, step): minutes
        for name in ("i-06f58c76ba1c4c2e7", "i-0dca61c356ef14800")
        for step, minutes in ((1, 15), (2, 30), (3, 60))
    } == {(one["InstanceId"], one["Step"]): one["IdleMinutes"] for one in idle}
