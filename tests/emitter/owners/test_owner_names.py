"""
The name of an owner on each kind of machine, with nobody to ask; users; and text that is hostile.
"""

from __future__ import annotations

import pwd

import played_machines as machines
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from played_machines import CONTAINER, POD, STATIC_POD, name_of

from emitter.owners import naming
from emitter.owners.naming import user_name
from emitter.owners.places import Places
from neuron_wire.holders import MAX_NAME_CHARS

SHORT = f"container:{CONTAINER[:12]}"


@pytest.mark.parametrize(
    ("form", "expected"),
    [
        ("SLURM_V1", "slurm:4711 ada"), ("SLURM_V2", "slurm:4711 ada"), ("UNIT", "unit:llama"),
        ("UNIT_IN_SLICES", "unit:llama@0"), ("USER_UNIT", "unit:notebook ada"),
        ("SESSION", "process:python3 ada"), ("DOCKER_V2", SHORT), ("ECS_V1", SHORT),
        ("EKS_SYSTEMD_V2", f"pod:{POD}"), ("STATIC_V2", f"pod:{STATIC_POD}"),
    ],
)  # fmt: skip
def test_the_groups_alone_give_a_name(played, form, expected):
    """With nobody to ask: what the kernel says is enough for a name."""
    played.process(groups=getattr(machines, form))
    assert expected == name_of(played)


def test_a_job_without_groups_says_its_number(played):
    """The environment of a Slurm that tracks processes otherwise; a number and nothing else."""
    for value, expected in (
        ("4711", "slurm:4711 ada"),
        ("4711x", "process:python3 ada"),
        ("-1", "process:python3 ada"),
        ("0", "process:python3 ada"),
        ("\u0664", "process:python3 ada"),
        ("9" * 11, "process:python3 ada"),
        ("", "process:python3 ada"),
    ):
        played.process(
            groups=machines.SLURM_WITHOUT_GROUPS, variables=["A=b", f"SLURM_JOB_ID={value}"]
        )
        assert expected == name_of(played)


@pytest.mark.parametrize("form", ["SLURM_26_05", "SLURM_26_05_OF_A_NODE"])
def test_a_job_that_slurm_names_by_sluid_has_its_number_where_it_can_be_read(played, form):
    """The number is in the environment; without it the SLUID stands there, marked."""
    groups = getattr(machines, form)
    played.process(groups=groups, variables=["SLURM_JOB_ID=4711"])
    assert "slurm:4711 ada" == name_of(played)
    played.process(groups=groups, variables=["SLURM_JOB_ID=evil"])
    assert f"slurm:sluid={machines.SLUID} ada" == name_of(played)


def test_a_container_is_no_job_because_it_says_so(played):
    """An environment is the process's own; the groups are the kernel's."""
    played.process(groups=machines.DOCKER_V2, variables=["SLURM_JOB_ID=4711"])
    assert SHORT == name_of(played)


def test_a_users_own_container_has_no_name_of_another(played):
    """Its user can give it the id of a pod's or a task's container, which is no secret."""
    played.process(groups=machines.ROOTLESS)
    played.file(f"var/log/containers/llama-0_search_server-{CONTAINER}.log", "")
    played.file(f"var/lib/docker/containers/{CONTAINER}/config.v2.json", {"Name": "/llama"})
    assert SHORT == name_of(played)


@pytest.mark.parametrize("form", ["DOCKER_V1", "DOCKER_V2"])
def test_docker_says_what_a_container_is_called(played, form):
    """From its own file, whose environment is not decoded."""
    played.process(groups=getattr(machines, form))
    file = f"var/lib/docker/containers/{CONTAINER}/config.v2.json"
    played.file(file, {"Name": "/llama_1", "Config": {"Env": ["KEY=secret"], "Labels": None}})
    assert "container:llama_1" == name_of(played)
    for broken in ("", "[]", "{", '{"Name": 7}', '{"Name": "/"}', '{"Name": "/\\u001b[2J"}',
                   "[" * 100_000, '{"Config": []}'):  # fmt: skip
        played.file(file, broken)
        assert SHORT == name_of(played)


@pytest.mark.parametrize(
    ("passwd", "expected"),
    [
        ("ada:x:1000:1000::/:/bin/sh\n", "process:x ada"), ("bob:x:1001:1:::\n", "process:x 1000"),
        ("", "process:x 1000"), (":x:1000:1:::\n", "process:x 1000"),
        ("a" * 99 + ":x:1000:1:::\n", "process:x " + "a" * 32),
        ("\x1b[2J:x:1000:1:::\n", "process:x ?[2J"), ("ada\n1000\n", "process:x 1000"),
    ],
)  # fmt: skip
def test_a_user_is_called_as_the_machine_calls_him(played, passwd, expected):
    """By the passwd beside its /proc, else by the number."""
    played.file("etc/passwd", passwd)
    played.process(command="x")
    assert expected == name_of(played)


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=60)
@given(
    groups=st.binary(max_size=300) | st.sampled_from(
        [value.encode() for name, value in vars(machines).items()
         if name.isupper() and isinstance(value, str) and ":/" in value]),
    command=st.binary(max_size=64),
    variables=st.lists(st.binary(max_size=60), max_size=4),
    user_id=st.integers(0, 1 << 33),
)  # fmt: skip
def test_every_name_can_be_written(played, groups, command, variables, user_id):
    """Whatever a process is called and belongs to: printable, not empty, and bounded."""
    played.process(groups=groups, command=command, variables=variables, user_id=user_id)
    name = name_of(played)
    assert name.isprintable()
    assert 0 < len(name) <= MAX_NAME_CHARS


SOMEBODY = next(one for one in pwd.getpwall() if one.pw_uid)
NOBODYS_ID = 3_999_999_999


@pytest.mark.parametrize(
    ("is_contained", "user_id", "expected"),
    [
        (False, SOMEBODY.pw_uid, pwd.getpwuid(SOMEBODY.pw_uid).pw_name),
        (True, SOMEBODY.pw_uid, str(SOMEBODY.pw_uid)), (False, NOBODYS_ID, str(NOBODYS_ID)),
        (False, 1 << 70, str(1 << 70)), (False, 0, "root"), (True, 0, "root"), (True, None, "?"),
    ],
)  # fmt: skip
def test_a_container_knows_other_users(monkeypatch, is_contained, user_id, expected):
    """There the same number is somebody else, but for root; the machine itself is asked."""
    monkeypatch.setattr(naming, "is_container", lambda _root: is_contained)
    assert expected == user_name(user_id, Places())
