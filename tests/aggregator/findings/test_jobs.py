"""Jobs on several instances whose lines come late or never: unseen work is not idleness."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from aggregator.storage.record_items import bucket_of
from neuron_wire.holders import Holder
from neuron_wire.line_members import iso_minute
from neuron_wire.owners import Owner
from proof.factories.records import MINUTE, record
from tests.aggregator.findings.findings_fleet import (
    FLEET_RULES,
    NOTHING_RAN,
    FindingsFleet,
    busy,
    held,
    maker,
)

JOB_MINUTES = 12
IDLE_FROM = 4  # the first minute in which a job is idle for long enough
IN_TIME = "in time"
DARK = "dark"
LATE = "late"
LOST = "lost"
RESTART = "restart"
LINE_FATES = st.sampled_from([IN_TIME, IN_TIME, IN_TIME, DARK, LATE, LOST, RESTART])
DARKNESS = {
    "core_state": "??",
    "utilization_percent": (None, None),
    "idle_minutes": (0, 0),
    "owners": (),
}


@dataclass(frozen=True)
class Rank:
    """
    One rank of a job: the owner of both cores of an instance.

    Attributes:
        job: Name of the job.

        number: Number of the rank, from 0.

        works: True if the cores of the rank are busy, otherwise they are idle.

        idle_minutes: Idle minutes of the cores in the first minute.

        paid: Payment of the instance, as its lines say.

        instance_type: Type with a list price, committed, or neither.

        fates: Fate of the line of each minute.
    """

    job: str
    number: int
    works: bool
    idle_minutes: int
    paid: str | None
    instance_type: str
    fates: tuple[str, ...]

    @property
    def owner(self):
        return f"ml/{self.job}-{self.number}"

    @property
    def instance_id(self):
        return f"i-{self.job}{self.number}"

    def fate(self, offset):
        """Draw the fate of the line of one minute; a restart also loses the minute after it."""
        return LOST if offset and self.fates[offset - 1] == RESTART else self.fates[offset]

    def line(self, offset):
        """Return the minute line."""
        idle = 0 if self.works else self.idle_minutes + offset
        owner = Owner("0-1", self.owner, None, "", 9 if self.works else 0, idle or None)
        members: dict[str, Any] = {
            "core_state": "bb" if self.works else "aa",
            "utilization_percent": (50.0 * self.works,) * 2,
            "idle_minutes": (idle, idle),
            "owners": (owner,),
            **NOTHING_RAN,
        }
        if self.fate(offset) == DARK:
            members |= DARKNESS
        return record(
            instance_id=self.instance_id,
            minute=MINUTE + offset,
            seq=offset + 1,
            is_clean_shutdown=self.fate(offset) == RESTART,
            paid=self.paid,
            instance_type=self.instance_type,
            **members,
        )


@st.composite
def jobs(draw):
    """Draw one job whose first rank works while its others wait, and one job that is idle."""
    paid = st.sampled_from([None, "committed", "avoidable"])
    types = st.sampled_from(["trn1.2xlarge", "trn2.48xlarge", "trn9.huge"])
    fates = st.lists(LINE_FATES, min_size=JOB_MINUTES, max_size=JOB_MINUTES).map(
        lambda others: (IN_TIME, *others)
    )
    working = draw(st.integers(2, 3))
    idle = draw(st.integers(1, 3))
    ranks = [("works", number, number == 0, 60) for number in range(working)]
    first = FLEET_RULES.idle_after_minutes - IDLE_FROM
    ranks += [("idles", number, False, first) for number in range(idle)]
    return [Rank(*rank, draw(paid), draw(types), draw(fates)) for rank in ranks]


@settings(max_examples=100)
@given(jobs())
def test_an_owner_is_idle_if_all_its_instances_say_so_and_others_never_matter(ranks):
    """
    An owner is a finding exactly if all its instances are known to be idle. Other instances never
    matter.

    No step is sent about an owner that works, its siblings or their instances, whatever lines come
    late, know nothing or never come, and however instances are paid. An idle job is a finding from
    the first minute in which all its instances report.
    """
    fleet = FindingsFleet()
    late = []
    for offset in range(JOB_MINUTES + 1):
        fleet.minute = MINUTE + offset
        for line in late:
            fleet.deliver(line, minute=fleet.minute - 1)
        late = [rank.line(offset) for rank in ranks if rank.fate(offset) == LATE]
        in_time = [rank for rank in ranks if rank.fate(offset) not in (LATE, LOST)]
        fleet.deliver(*[rank.line(offset) for rank in in_time], minute=fleet.minute)
        fleet.close()
    idles = [rank for rank in ranks if rank.job == "idles"]
    subjects = {name for rank in idles for name in (rank.owner, rank.instance_id)}
    known = [
        offset
        for offset in range(IDLE_FROM, JOB_MINUTES + 1)
        if all(rank.fate(offset) in (IN_TIME, RESTART) for rank in idles)
    ]
    expected = {(name, "opened", iso_minute(MINUTE + known[0])) for name in subjects if known}
    sent = [event for event in fleet.sent if event["Kind"].startswith("idle-")]
    assert expected == {
        (event.get("Owner", event.get("InstanceId")), event["Change"], event["Minute"])
        for event in sent
    }


WORKING_JOB = {"core_state": "bb", "minutes": (0, 0), "owner": "ml/other-0"}
SIBLING = {**WORKING_JOB, "owner": "ml/train-1"}


@pytest.mark.parametrize(
    ("last", "happens", "waits"),
    [
        (WORKING_JOB, "", 1),
        (SIBLING, "", 61),
        ({**SIBLING, "is_clean_shutdown": True}, "", 6),
        (SIBLING, "EC2 stops it", 1),
        (SIBLING, "it moves to another cluster", 1),
        ({**SIBLING, "core_state": "??", "minutes": (0, 0)}, "", 1),
        ({**WORKING_JOB, "owners_more": "1", "owners": (Owner("0", "ml/other-0"),)}, "", 61),
        ({**WORKING_JOB, "owners": ()}, "", 61),
        (
            {**WORKING_JOB, "core_state": "aa", "owners": (), "holders": (Holder("0-1", "x"),)},
            "",
            1,
        ),
        (WORKING_JOB, "its item is damaged", 61),
    ],
)
def test_the_last_record_of_an_instance_holds_back_the_owners_that_it_names(last, happens, waits):
    """
    The last record of an instance holds back the owners it names and their siblings until the
    instance is forgotten or, after a clean shutdown, would be silent. It holds back every owner if
    it omits or does not name some, or is damaged.
    """
    fleet = FindingsFleet()
    waiting = [held("aa", (minutes, minutes), "ml/train-0") for minutes in (14, 20)]
    members = {"instance_id": "i-2", **last}
    lost = held(members.pop("core_state"), members.pop("minutes"), members.pop("owner"), **members)
    fleet.pass_minute(waiting[0], lost)
    if happens == "EC2 stops it":
        fleet.table.put_departure("i-2", fleet.minute, 0)
    elif happens == "its item is damaged":
        place = fleet.table.records[fleet.minute, bucket_of("i-2")]
        place.update(dict.fromkeys(place, b"damaged"))
    moved = [maker(busy, instance_id="i-2", cluster="new")] if "moves" in happens else []
    passed = 1
    while "idle-owner" not in [event["Kind"] for event in fleet.pass_minute(waiting[1], *moved)]:
        passed += 1
    assert waits == passed
