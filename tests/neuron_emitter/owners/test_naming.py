"""Names of owners without asking a service, names of users, and hostile texts."""

from __future__ import annotations

import pwd

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from neuron_emitter.owners import naming
from neuron_emitter.owners.assignments import RuntimeOwner
from neuron_emitter.owners.naming import user_name
from neuron_emitter.owners.places import Places
from neuron_wire.holders import MAX_HOLDER_NAME_CHARS
from tests.neuron_emitter.owners import fake_machine as machines
from tests.neuron_emitter.owners.fake_machine import (
    CONTAINER,
    LLAMA_LOG,
    MACHINE_SLUID,
    POD_ID,
    SHORT_CONTAINER,
    STATIC_POD,
    name_of,
    owner_of,
)


@pytest.mark.parametrize(
    ("form", "variables", "expected"),
    [
        ("UNIT_GROUPS", None, "unit:llama"), ("UNIT_IN_SLICES", None, "unit:llama@0"),
        ("USER_UNIT", None, "unit:notebook ada"), ("SESSION", None, "process:python3 ada"),
        ("DOCKER_V2", None, SHORT_CONTAINER), ("ECS_V1", None, SHORT_CONTAINER), ("STATIC_V2", None,
         f"pod:{STATIC_POD}"), ("EKS_SYSTEMD_V2", None, f"pod:{POD_ID}"),
        # The process can set its environment; the kernel sets groups.
        ("DOCKER_V2", ["SLURM_JOB_ID=4711"], SHORT_CONTAINER),
        ("SLURM_WITHOUT_GROUPS", ["A=b", "SLURM_JOB_ID=4711"], "slurm:4711 ada"),
        *(("SLURM_WITHOUT_GROUPS", [f"SLURM_JOB_ID={value}"], "process:python3 ada")
          for value in ("4711x", "-1", "0", "\u0664", "9" * 11, "")),
        ("SLURM_26_05", ["SLURM_JOB_ID=4711"], f"slurm:sluid={MACHINE_SLUID} ada"),
    ],
)  # fmt: skip
def test_the_groups_alone_give_a_name(machine, form, variables, expected):
    """Control groups give a name. The environment counts only if no group has a job."""
    machine.process(groups=getattr(machines, form), variables=variables)
    assert expected == name_of(machine)


def test_a_users_container_has_its_own_name(machine):
    """A container of a user has its own name, although the user can give it a pod's ID."""
    machine.process(groups=machines.ROOTLESS)
    machine.file(f"var/log/containers/llama-0_search_server-{CONTAINER}.log", "")
    machine.file(f"var/lib/docker/containers/{CONTAINER}/config.v2.json", {"Name": "/llama"})
    assert SHORT_CONTAINER == name_of(machine)


@pytest.mark.parametrize(
    ("groups", "variables", "owner"),
    [
        (
            "SLURM_V2",
            ["SLURM_JOB_ACCOUNT=physics"],
            RuntimeOwner("slurm:4711 ada", team="physics", job="4711"),
        ),
        (
            "SLURM_26_05",
            ["SLURM_JOB_ID=7", "SLURM_JOB_ACCOUNT=a\x1b"],
            RuntimeOwner(
                f"slurm:sluid={MACHINE_SLUID} ada", team="a?", job=f"sluid={MACHINE_SLUID}"
            ),
        ),
        ("EKS_SYSTEMD_V2", None, RuntimeOwner("search/llama-0/server", team="search", pod=POD_ID)),
    ],
)
def test_the_team_is_what_the_scheduler_knows(machine, groups, variables, owner):
    """A job's team is its account, a pod's team its namespace. Other owners have no team."""
    machine.file(LLAMA_LOG, "")
    machine.process(groups=getattr(machines, groups), variables=variables)
    assert owner == owner_of(machine)


@pytest.mark.parametrize(
    ("passwd", "expected"),
    [
        ("ada:x:1000:1000::/:/bin/sh\n", "process:x ada"), ("bob:x:1001:1:::\n", "process:x 1000"),
        ("a" * 99 + ":x:1000:1:::\n", "process:x " + "a" * 32),
        ("\x1b[2J:x:1000:1:::\n", "process:x ?[2J"), ("ada\n1000\n", "process:x 1000"),
    ],
)  # fmt: skip
def test_a_user_has_the_name_in_the_machines_passwd(machine, passwd, expected):
    """A user has the name in the machine's passwd, or the user ID without an entry."""
    machine.file("etc/passwd", passwd)
    machine.process(command="x")
    assert expected == name_of(machine)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    groups=st.binary(max_size=300)
    | st.sampled_from(
        [
            value.encode()
            for name, value in vars(machines).items()
            if name.isupper() and isinstance(value, str) and ":/" in value
        ]
    ),
    command=st.binary(max_size=64),
    variables=st.lists(st.binary(max_size=60), max_size=4),
    user_id=st.integers(0, 1 << 33),
)
def test_every_name_can_be_written(machine, groups, command, variables, user_id):
    """Any owner's name is printable, not empty and bounded."""
    machine.process(groups=groups, command=command, variables=variables, user_id=user_id)
    name = name_of(machine)
    assert name.isprintable()
    assert 0 < len(name) <= MAX_HOLDER_NAME_CHARS


ANOTHER_USER = next(user for user in pwd.getpwall() if user.pw_uid)
UNUSED_ID = 3_999_999_999


@pytest.mark.parametrize(
    ("is_contained", "user_id", "expected"),
    [
        (False, ANOTHER_USER.pw_uid, ANOTHER_USER.pw_name),
        (True, ANOTHER_USER.pw_uid, str(ANOTHER_USER.pw_uid)),
        (False, UNUSED_ID, str(UNUSED_ID)), (False, 1 << 70, str(1 << 70)), (False, 0, "root"),
        (True, 0, "root"), (True, None, "?"),
    ],
)  # fmt: skip
def test_a_container_has_other_users(monkeypatch, is_contained, user_id, expected):
    """A user ID in a container has no name, except 0. On the machine, its users are read."""
    monkeypatch.setattr(naming, "is_container", lambda _root: is_contained)
    assert expected == user_name(user_id, Places())
