"""A process's pod, task, job or unit by its control groups, and whether it is present."""

from __future__ import annotations

from unittest.mock import Mock

import pytest

from neuron_emitter.owners import membership as membership_module
from neuron_emitter.owners.membership import Membership, Presence, membership
from tests.neuron_emitter.owners import fake_machine as machines
from tests.neuron_emitter.owners.fake_machine import (
    CONTAINER,
    LLAMA_LOG,
    MACHINE_SLUID,
    OTHER_CONTAINER,
    POD_ID,
    STATIC_POD,
)

NO_MEMBERSHIP = Membership()
IN_POD = Membership(container=CONTAINER, pod=POD_ID)
IN_TASK = Membership(container=CONTAINER, is_ecs=True)
IN_CONTAINER = Membership(container=CONTAINER)
IN_JOB = Membership(job="4711")
IN_SLUID_JOB = Membership(job=f"sluid={MACHINE_SLUID}")
SLURM_SCOPE = "/system.slice/slurmstepd.scope"
SCOPE = "sys/fs/cgroup/system.slice/slurmstepd.scope"
FREEZER = "sys/fs/cgroup/freezer"
OTHER_LOGS = "var/log/pods/kube-system_aws-node-x_00000000-0000-0000-0000-000000000001/a/0.log"
VOLUMES = f"var/lib/kubelet/pods/{POD_ID}/etc-hosts"


def parse_groups(text):
    """Return the membership for the text of a cgroup file."""
    lines = [line.partition(":")[2].partition(":") for line in text.splitlines()]
    return membership((controllers, path) for controllers, _, path in lines)


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("ECS_V1", IN_TASK), ("ECS_V2", IN_TASK), ("EKS_SYSTEMD_V2", IN_POD),
        ("EKS_GUARANTEED_V2", IN_POD), ("EKS_CGROUPFS_V1", IN_POD), ("EKS_MIXED_V1", IN_POD),
        ("EKS_SEEN_FROM_A_POD", IN_POD), ("EKS_SEEN_FROM_THE_SAME_POD", IN_CONTAINER),
        ("CRI_O", IN_POD), ("STATIC_V2", Membership(container=CONTAINER, pod=STATIC_POD)),
        ("DOCKER_V1", IN_CONTAINER), ("DOCKER_V2", IN_CONTAINER), ("PODMAN_V2", IN_CONTAINER),
        ("ROOTLESS", Membership(container=CONTAINER, is_rootless=True)),
        ("SLURM_V1", Membership(job="4711", job_user_id=1000)),
        ("SLURM_V1_OF_A_NODE", Membership(job="4711", job_user_id=1000)),
        ("SLURM_V2", IN_JOB), ("SLURM_V2_OF_A_NODE", IN_JOB),
        ("SLURM_26_05", IN_SLUID_JOB),
        ("SLURM_26_05_OF_A_NODE", IN_SLUID_JOB),
        ("SLURM_26_05_FROM_A_GROUP", IN_SLUID_JOB),
        ("SLURM_WITHOUT_GROUPS", NO_MEMBERSHIP), ("UNIT_GROUPS", Membership(unit="llama.service")),
        ("UNIT_IN_SLICES", Membership(unit="llama@0.service")), ("SESSION", NO_MEMBERSHIP),
        ("USER_UNIT", Membership(unit="notebook.service", unit_user_id=1000)),
        ("BARE", NO_MEMBERSHIP),
    ],
)  # fmt: skip
def test_every_runtime_is_known_by_its_groups(form, expected):
    """Each runtime is recognized by its control groups, in version 1 and 2."""
    assert expected == parse_groups(getattr(machines, form))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"/docker/{OTHER_CONTAINER}/docker/{CONTAINER}", IN_CONTAINER),
        (f"/system.slice/docker-{CONTAINER}.scope/init.scope", IN_CONTAINER),
        (
            f"/kubepods/pod{POD_ID}/{CONTAINER}{SLURM_SCOPE}/job_7/step_0/user",
            Membership(job="7", container=CONTAINER, pod=POD_ID),
        ),
        (f"{SLURM_SCOPE}/{MACHINE_SLUID}/step_0/user/a.service", IN_SLUID_JOB),
        ("/../job_4711/step_0", IN_JOB),
        (f"/{CONTAINER}" + "/x" * 63, IN_CONTAINER),
        ("/slurm/uid_1000/job_7", Membership(job="7", job_user_id=1000)),
        ("/user@1000.service/a.service", Membership(unit="a.service", unit_user_id=1000)),
    ],
)
def test_the_innermost_group_counts(path, expected):
    """The innermost container counts, and a job inside a container, as with slurmd in a pod."""
    assert expected == parse_groups(machines.v2(path))


@pytest.mark.parametrize(
    "path",
    [
        f"/kubepods/pod{POD_ID}/{CONTAINER[:-1]}", f"/kubepods/pod{POD_ID}/{CONTAINER}0",
        f"/docker/{CONTAINER.upper()}", f"/docker/x{CONTAINER}",
        f"{SLURM_SCOPE}/job_{'9' * 11}", "/home/job_5/step_0", "/../job_5",
        f"/{CONTAINER}" + "/x" * 64,
        f"{SLURM_SCOPE}/{MACHINE_SLUID[:-1]}U/step_0", f"/../{MACHINE_SLUID}",
        "/system.slice/../etc/passwd",
        "/system.slice/evil\x1b[31m.service", "/system.slice/" + "a" * 300 + ".service",
        "/system.slice/sshd.service", "/system.slice/amazon-ssm-agent.service",
        "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-1.scope", "/..", "//",
        "/" + "../" * 5000,
    ],
)  # fmt: skip
def test_a_path_that_resembles_a_known_form_has_no_membership(path):
    """A path that resembles a known form, such as an ID of another length, has no membership."""
    assert NO_MEMBERSHIP == membership([("", path)])


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({"memory": f"/docker/{CONTAINER}", "name=systemd": "/a.service"}, IN_CONTAINER),
        ({"memory": f"/docker/{CONTAINER}", "pids": f"/pod{POD_ID}/{CONTAINER}"}, IN_POD),
        ({"memory": f"{SLURM_SCOPE}/job_4711", "name=systemd": "/system.slice/a.service"}, IN_JOB),
    ],
)
def test_the_most_specific_hierarchy_counts(groups, expected):
    """The most specific hierarchy counts, in any order, because not all have a group."""
    assert expected == membership(groups.items()) == membership(reversed(groups.items()))


@pytest.mark.parametrize(
    "below",
    [
        f"kubepods-pod{POD_ID}.slice/cri-containerd-{CONTAINER}.scope",
        f"ecs/{machines.TASK_ID}/{CONTAINER}",
        "slurmstepd.scope/job_4711/step_0/user/task_0",
        f"slurmstepd.scope/{MACHINE_SLUID}/step_0/user/task_0",
    ],
)
def test_a_user_cannot_impersonate_others_by_naming_groups(below):
    """Groups below a user's systemd are not pods, tasks or jobs, because users can name them."""
    parsed = parse_groups(machines.v2(f"/user.slice/user-1000.slice/user@1000.service/{below}"))
    assert parsed.job is None
    assert parsed.pod is None
    assert parsed.is_ecs is False
    assert parsed.container is None or parsed.is_rootless


@pytest.mark.parametrize(
    ("files", "owner", "missing"),
    [
        ([], {"pod": POD_ID}, False), ([LLAMA_LOG, OTHER_LOGS], {"pod": POD_ID}, False),
        ([OTHER_LOGS, VOLUMES], {"pod": POD_ID}, False), ([OTHER_LOGS], {"pod": POD_ID}, True),
        (["var/lib/kubelet/pods/x/y"], {"pod": POD_ID}, True), ([OTHER_LOGS], {}, False),
        ([], {"job": "4711"}, False), ([f"{SCOPE}/job_4711/x"], {"job": "4711"}, False),
        ([f"{SCOPE}/job_7/x"], {"job": "4711"}, True),
        ([f"{SCOPE}/system/x", f"{SCOPE}/{MACHINE_SLUID}/x"], {"job": "4711"}, False),
        ([f"{SCOPE}/{MACHINE_SLUID}/x"], {"job": f"sluid={MACHINE_SLUID}"}, False),
        ([f"{SCOPE}/job_7/x"], {"job": f"sluid={MACHINE_SLUID}"}, True),
        (["sys/fs/cgroup/system.slice/node-3_slurmstepd.scope/job_4711/x"], {"job": "4711"}, False),
        ([f"{FREEZER}/slurm/uid_7/job_4711/x"], {"job": "4711"}, False),
        ([f"{FREEZER}/slurm/uid_7/job_1/x"], {"job": "4711"}, True),
    ],
)  # fmt: skip
def test_a_pod_or_job_is_missing_only_if_others_are_listed(machine, files, owner, missing):
    """
    A pod or job is missing only if other pods or jobs are listed.

    A group by SLUID does not show a job's number.
    """
    for file in files:
        machine.file(file, "")
    is_missing = Presence(machine.root).is_missing(**{"job": None, "pod": None, **owner})
    assert missing == is_missing


@pytest.mark.parametrize("owner", [{"job": None, "pod": POD_ID}, {"job": "4711", "pod": None}])
def test_in_a_folder_that_cannot_be_listed_whole_nothing_is_missing(machine, owner, monkeypatch):
    """If a folder cannot be listed whole, nothing is missing."""
    machine.file(OTHER_LOGS, "")
    machine.file(f"{SCOPE}/job_7/x", "")
    assert Presence(machine.root).is_missing(**owner)
    with monkeypatch.context() as patch:
        patch.setattr(membership_module, "MAX_CGROUP_ENTRIES", 0)
        assert not Presence(machine.root).is_missing(**owner)
    with monkeypatch.context() as patch:
        patch.setattr("os.scandir", Mock(side_effect=PermissionError))
        assert not Presence(machine.root).is_missing(**owner)
