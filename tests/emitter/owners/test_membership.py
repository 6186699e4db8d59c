"""What the path of a control group says, in every form that a runtime gives it."""

from __future__ import annotations

import played_machines as machines
import pytest
from hypothesis import given
from hypothesis import strategies as st
from played_machines import CONTAINER, OTHER_CONTAINER, POD, SLUID, STATIC_POD

from emitter.owners.membership import Membership, membership

NOBODY = Membership()
IN_POD = Membership(container=CONTAINER, pod=POD)
IN_TASK = Membership(container=CONTAINER, is_ecs=True)
IN_CONTAINER = Membership(container=CONTAINER)


def of(groups):
    """What the text of a cgroup file says."""
    lines = [line.partition(":")[2].partition(":") for line in groups.splitlines()]
    return membership((controllers, path) for controllers, _, path in lines)


SLURM = f"/system.slice/slurmstepd.scope/{SLUID}"


@pytest.mark.parametrize(
    "groups",
    [
        f"2:memory:{SLURM}/step_0\n1:name=systemd:/system.slice/a.service",
        f"0::{SLURM}",
        f"0::{SLURM}/step_0/user/a.service",
        f"0::/../{SLUID}/step_0",
    ],
)
def test_a_job_counts_before_the_unit_it_is_in(groups):
    """Also where its group is the last one or the first one that can be seen."""
    assert Membership(sluid=SLUID) == of(groups)


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
        ("SLURM_V2", Membership(job="4711")), ("SLURM_V2_OF_A_NODE", Membership(job="4711")),
        ("SLURM_26_05", Membership(sluid=SLUID)),
        ("SLURM_26_05_OF_A_NODE", Membership(sluid=SLUID)),
        ("SLURM_26_05_FROM_A_GROUP", Membership(sluid=SLUID)),
        ("SLURM_WITHOUT_GROUPS", NOBODY), ("UNIT", Membership(unit="llama.service")),
        ("UNIT_IN_SLICES", Membership(unit="llama@0.service")),
        ("USER_UNIT", Membership(unit="notebook.service", unit_user_id=1000)), ("SESSION", NOBODY),
        ("BARE", NOBODY),
    ],
)  # fmt: skip
def test_every_runtime_is_known_by_its_groups(form, expected):
    """Control groups of version 1 and 2, as each runtime makes them."""
    assert expected == of(getattr(machines, form))


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        (f"/docker/{OTHER_CONTAINER}/docker/{CONTAINER}", IN_CONTAINER),
        (f"/docker/{CONTAINER}/system.slice/web.service", IN_CONTAINER),
        (f"/system.slice/docker-{CONTAINER}.scope/init.scope", IN_CONTAINER),
        (f"/kubepods/pod{POD}/{CONTAINER}/system.slice/slurmstepd.scope/job_7/step_0/user",
         Membership(job="7", container=CONTAINER, pod=POD)),
        ("/../../job_7/step_0/user/task_0", Membership(job="7")),
        ("/../job_7/step_0", Membership(job="7")),
        ("/slurm/uid_1000/job_7", Membership(job="7", job_user_id=1000)),
        (f"/{CONTAINER}", IN_CONTAINER),
        (f"/docker/{CONTAINER}/pod{POD}", IN_CONTAINER),
        (f"/{CONTAINER}" + "/x" * 63, IN_CONTAINER),
        ("/user@1000.service/a.service", Membership(unit="a.service", unit_user_id=1000)),
        ("/system.slice/crio-conmon-" + CONTAINER + ".scope",
         Membership(unit=f"crio-conmon-{CONTAINER}.scope")),
        ("/system.slice/run-feed.service", Membership(unit="run-feed.service")),
    ],
)  # fmt: skip
def test_what_is_inside_counts(path, expected):
    """The innermost container; a job in a container, as where slurmd itself is a pod."""
    assert expected == of(machines.v2(path))


@pytest.mark.parametrize(
    "path",
    [
        f"/kubepods/pod{POD}/{CONTAINER[:-1]}", f"/kubepods/pod{POD}/{CONTAINER}0",
        f"/docker/{CONTAINER.upper()}", f"/docker/x{CONTAINER}",
        f"/docker/{CONTAINER}\n{CONTAINER}", "/system.slice/slurmstepd.scope/job_0x47/step_0",
        "/system.slice/slurmstepd.scope/job_-1/step_0",
        "/system.slice/slurmstepd.scope/job_" + "9" * 11, "/home/job_5/step_0", "/../job_5",
        f"/{CONTAINER}" + "/x" * 64, "/slurm/uid_1000x/job_5/step_0",
        "/system.slice/slurmstepd.scope/s5K1KKYAYG5D0/step_0", f"/home/{SLUID}/step_0",
        "/system.slice/slurmstepd.scope/s5K1KKYAYG5D0U/step_0", f"/../{SLUID}",
        "/system.slice/../etc/passwd", "/system.slice/evil\x1b[31m.service",
        "/system.slice/" + "a" * 300 + ".service", "/system.slice/sshd.service",
        "/system.slice/amazon-ssm-agent.service", "/system.slice/run-u12.service",
        "/user.slice/user-1000.slice/user@1000.service",
        "/user.slice/user-1000.slice/user@1000.service/init.scope",
        "/user.slice/user-1000.slice/user@1000.service/app.slice/app-gnome-1.scope", "/..", "//",
        "/" + "../" * 5000,
    ],
)  # fmt: skip
def test_what_only_looks_like_one_is_none(path):
    """
    Ids of a wrong length, numbers that are none, escapes, and units that say nothing of their
    processes.
    """
    assert NOBODY == membership([("", path)])


@pytest.mark.parametrize(
    ("groups", "expected"),
    [
        ({"memory": "/", "name=systemd": "/system.slice/a.service"}, Membership(unit="a.service")),
        ({"memory": f"/docker/{CONTAINER}", "name=systemd": "/a.service"}, IN_CONTAINER),
        ({"memory": f"/docker/{CONTAINER}", "pids": f"/pod{POD}/{CONTAINER}"}, IN_POD),
    ],
)
def test_the_hierarchy_that_says_most_is_believed(groups, expected):
    """Whichever comes first: not every controller has a group for everything."""
    assert expected == membership(groups.items())
    assert expected == membership(reversed(groups.items()))


@pytest.mark.parametrize(
    "below",
    [
        f"kubepods-pod{POD}.slice/cri-containerd-{CONTAINER}.scope",
        f"ecs/{machines.TASK}/{CONTAINER}",
        "slurmstepd.scope/job_4711/step_0/user/task_0",
        f"slurmstepd.scope/{SLUID}/step_0/user/task_0",
    ],
)
def test_who_may_make_groups_below_a_user_cannot_be_another(below):
    """A user's systemd lets its user name groups: they say nothing of pods, tasks and jobs."""
    found = of(machines.v2(f"/user.slice/user-1000.slice/user@1000.service/{below}"))
    assert (None, None, None, False) == (found.job, found.sluid, found.pod, found.is_ecs)
    assert found.container is None or found.is_rootless


PARTS = st.sampled_from(
    [
        *("..", "ecs", machines.TASK, CONTAINER, f"pod{POD}", "slurmstepd.scope", "job_7", SLUID),
        *("step_0", "uid_1000", "system.slice", "a.service", "b.scope", "user@1000.service"),
        f"docker-{CONTAINER}.scope",
    ]
) | st.text(max_size=80)


@given(st.lists(st.tuples(st.sampled_from(["", "name=systemd", "memory"]), st.lists(PARTS))))
def test_any_path_is_read(groups):
    """Whatever the parts: nothing is raised, and ids have the form of ids."""
    found = membership((name, "/" + "/".join(parts)) for name, parts in groups)
    assert found.job is None or found.job.isdigit()
    assert found.container is None or len(found.container) == 64
    assert found.pod is None or len(found.pod) in {32, 36}
    assert found.container is not None or not (found.pod or found.is_ecs or found.is_rootless)
