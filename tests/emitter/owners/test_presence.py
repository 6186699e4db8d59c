"""A process that outlived its pod or its job, and teams: facts, and only where they can be seen."""

from __future__ import annotations

import shutil

import played_machines as machines
import pytest
from played_machines import POD, SLUID, owner_of

from emitter.owners.lookup import GONE_AFTER_S, OwnerLookup
from emitter.owners.membership import Presence
from emitter.owners.naming import ProcessOwner

LOGS = f"var/log/pods/search_llama-0_{POD}/server/0.log"
OTHER = "var/log/pods/kube-system_aws-node-x_00000000-0000-0000-0000-000000000001/a/0.log"
VOLUMES = f"var/lib/kubelet/pods/{POD}/etc-hosts"
SCOPE = "sys/fs/cgroup/system.slice/slurmstepd.scope"
FREEZER = "sys/fs/cgroup/freezer"


def is_missing(played, owner):
    """Asked anew."""
    return Presence(played.root).is_missing(job=owner.job, pod=owner.pod)


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ([], False), ([LOGS, OTHER], False), ([OTHER, VOLUMES], False), ([OTHER], True),
        (["var/lib/kubelet/pods/x/y"], True),
    ],
)  # fmt: skip
def test_a_pod_is_missing_when_others_are_seen_and_it_is_not(played, files, missing):
    """In the logs and among the volumes; where no pod is seen nobody knows."""
    for file in files:
        played.file(file, "")
    assert missing == is_missing(played, ProcessOwner("search/llama-0", pod=POD))
    assert not is_missing(played, ProcessOwner("unit:llama"))


@pytest.mark.parametrize(
    ("files", "missing"),
    [
        ([], False), ([f"{SCOPE}/job_4711/x"], False), ([f"{SCOPE}/job_7/x"], True),
        ([f"{SCOPE}/system/x"], True), ([f"{SCOPE}/system/x", f"{SCOPE}/{SLUID}/x"], False),
        (["sys/fs/cgroup/system.slice/node-3_slurmstepd.scope/job_4711/x"], False),
        ([f"{FREEZER}/slurm/uid_7/job_4711/x"], False), ([f"{FREEZER}/slurm/uid_7/job_1/x"], True),
        ([f"{FREEZER}/slurm_node-3/x"], True), ([f"{FREEZER}/user.slice/x"], False),
    ],
)  # fmt: skip
def test_a_job_is_missing_when_slurm_has_groups_and_none_of_it(played, files, missing):
    """Groups by SLUID do not say which numbers are here."""
    for file in files:
        played.file(file, "")
    assert missing == is_missing(played, ProcessOwner("slurm:4711 ada", job="4711"))


@pytest.mark.parametrize("owner", [ProcessOwner("p", pod=POD), ProcessOwner("j", job="4711")])
def test_what_cannot_be_listed_is_not_missing(played, owner, monkeypatch):
    """A folder that another user may not read, or that has more entries than are looked at."""
    played.file(OTHER, "")
    played.file(f"{SCOPE}/job_7/x", "")
    assert is_missing(played, owner)
    monkeypatch.setattr("emitter.owners.membership.MAX_ENTRIES", 0)
    assert not is_missing(played, owner)
    monkeypatch.undo()

    def denied(_path):
        raise PermissionError

    monkeypatch.setattr("emitter.owners.membership.os.scandir", denied)
    assert not is_missing(played, owner)


class Clock:
    """Seconds since the boot."""

    now_s = 1000.0

    def __call__(self):
        return self.now_s


def test_a_process_is_gone_when_its_pod_was_missing_for_ten_minutes(played):
    """Not a second sooner; not while nothing can be seen; and never again once it is back."""
    clock = Clock()
    owners = OwnerLookup(played.places, clock=clock, is_background=False)
    played.process(groups=machines.EKS_SYSTEMD_V2)
    played.file(LOGS, "")
    played.file(OTHER, "")

    def gone_after(seconds):
        clock.now_s += seconds
        owners.note_pids([42])
        owners.look_up_pending()
        owners.recheck_processes()
        return owners.owner_of(42).gone

    assert not gone_after(0)
    shutil.rmtree((played.root / LOGS).parents[1])
    assert [False, False, True] == [gone_after(one) for one in (1, GONE_AFTER_S - 1, 1)]
    assert gone_after(3600), "a name that is looked for again stays that of one that is gone"
    shutil.rmtree((played.root / OTHER).parents[2])
    assert not gone_after(20)
    played.file(OTHER, "")
    assert [False, True] == [gone_after(one) for one in (1, GONE_AFTER_S)]
    played.file(LOGS, "")
    assert not gone_after(20)
    played.end(42)
    played.process(groups=machines.EKS_SYSTEMD_V2, ticks=100_000)
    assert not gone_after(20), "another process, which the pid now is"


@pytest.mark.parametrize(
    ("groups", "variables", "owner"),
    [
        ("SLURM_V2", ["SLURM_JOB_ACCOUNT=physics"],
         ProcessOwner("slurm:4711 ada", team="physics", job="4711")),
        ("SLURM_V1", None, ProcessOwner("slurm:4711 ada", job="4711")),
        ("SLURM_26_05", ["SLURM_JOB_ID=7", "SLURM_JOB_ACCOUNT=a\x1b"],
         ProcessOwner("slurm:7 ada", team="a?", job="7")),
        ("SLURM_26_05", None, ProcessOwner(f"slurm:sluid={SLUID} ada")),
        ("EKS_SYSTEMD_V2", None, ProcessOwner("search/llama-0/server", team="search", pod=POD)),
        ("UNIT", ["SLURM_JOB_ACCOUNT=physics"], ProcessOwner("unit:llama")),
    ],
)  # fmt: skip
def test_the_team_is_what_the_scheduler_knows(played, groups, variables, owner):
    """The account of a job and the namespace of a pod, printable; of anything else nobody's."""
    played.file(LOGS, "")
    played.process(groups=getattr(machines, groups), variables=variables)
    assert owner == owner_of(played)
