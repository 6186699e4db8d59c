"""A guessed ID that survives restarts, and small files of the machine."""

from __future__ import annotations

import os
import socket

import pytest

from neuron_emitter.instance.machine import (
    BOOT_ID_FILE,
    MACHINE_ID_FILE,
    MOUNTS_FILE,
    assignments,
    guessed_instance_id,
)

ONE = "0123456789abcdef0123456789abcdef"
OTHER = "fedcba9876543210fedcba9876543210"
BOOT = "a7182b85-5fc8-47cf-8c83-b2b9740783cc"
OTHER_BOOT = "7be0d0e5-0a7c-4f0d-9b3e-2f6a1a8f9c11"
OVERLAY = "600 500 0:50 / / rw,relatime master:1 - overlay overlay rw,lowerdir=/l\n"
DISK = "22 1 259:1 / / rw,noatime shared:1 - xfs /dev/nvme0n1p1 rw\n"
HOSTS_ID = "620 600 259:1 /etc/machine-id /etc/machine-id ro,noatime - xfs /dev/nvme0n1p1 rw\n"
# Each of these signs alone shows a container: a file, a mount table or a variable.
CONTAINER_SIGNS = [
    ({".dockerenv": ""}, {}),
    ({"run/.containerenv": ""}, {}),
    ({MOUNTS_FILE: OVERLAY}, {}),
    ({}, {"KUBERNETES_SERVICE_HOST": "172.20.0.1"}),
    ({}, {"ECS_CONTAINER_METADATA_URI_V4": "http://169.254.170.2/v4/0"}),
    ({}, {"container": "oci"}),
]


@pytest.fixture(autouse=True)
def host_names(monkeypatch):
    """Return another host name for each call, like new containers."""
    names = iter(range(100))
    monkeypatch.setattr(socket, "gethostname", lambda: f"name-{next(names)}")


@pytest.fixture
def guess(tmp_path, monkeypatch):
    """Return a function that guesses the ID on a machine with some files and variables."""
    numbers = iter(range(100))

    def guessed(files, environ=()):
        root = tmp_path / str(next(numbers))
        for name, content in files.items():
            path = root / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content if isinstance(content, bytes) else content.encode())
        monkeypatch.setattr(os, "environ", dict(environ))
        return guessed_instance_id(root)

    return guessed


def test_a_guess_stays_the_same_and_is_another_elsewhere(guess):
    """The guess is a hash of the machine ID, which is not published itself."""
    first = guess({MACHINE_ID_FILE: f"{ONE}\n", MOUNTS_FILE: DISK})
    assert first == guess({MACHINE_ID_FILE: f"{ONE}\n"})
    assert first != guess({MACHINE_ID_FILE: f"{OTHER}\n"})
    assert "host-" == first[:5]
    assert 21 == len(first)
    assert set(first[5:]) <= set("0123456789abcdef")
    assert first[5:] not in ONE


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe", b"uninitialized\n"])
def test_on_a_host_without_a_machine_id_its_name_counts(content, guess):
    """
    A host without a valid machine ID is named by its host name.

    machine-id(5): `uninitialized` is its content during the first boot.
    """
    files = {} if content is None else {MACHINE_ID_FILE: content}
    assert guess(files) != guess(files)


@pytest.mark.parametrize(("marks", "environ"), CONTAINER_SIGNS)
def test_a_container_that_starts_again_keeps_its_name(marks, environ, guess):
    """
    A container keeps its guess over restarts, although its host name changes.

    Otherwise each restart would leave a silent instance.
    """
    files = {**marks, BOOT_ID_FILE: BOOT}
    assert guess(files, environ) == guess(files, environ)
    assert guess(files, environ) != guess({**marks, BOOT_ID_FILE: OTHER_BOOT}, environ)


@pytest.mark.parametrize(("marks", "environ"), CONTAINER_SIGNS)
def test_the_machine_id_of_an_image_does_not_merge_machines(marks, environ, guess):
    """A machine ID inside a container image does not count, because all copies share it."""
    files = {**marks, MACHINE_ID_FILE: ONE}
    first, second = ({**files, BOOT_ID_FILE: boot} for boot in (BOOT, OTHER_BOOT))
    assert guess(first, environ) != guess(second, environ)


def test_the_hosts_machine_id_mounted_into_a_container_counts(guess):
    """The host's machine ID, mounted into a container, gives the host's own guess."""
    mounted = {MOUNTS_FILE: OVERLAY + HOSTS_ID, MACHINE_ID_FILE: ONE, BOOT_ID_FILE: BOOT}
    assert guess({MACHINE_ID_FILE: ONE}) == guess(mounted)


@pytest.mark.parametrize(
    ("expected", "line"),
    [
        (("ClusterName", "one"), "ClusterName=one"),
        (("ClusterName", "one"), "  ClusterName = one   # of two"),
        (("stack_name", "one"), 'export stack_name="one"'),
        (("stack_name", "one"), "stack_name='one'"),
        (("KEY", "a=b"), "KEY=a=b"),
        (("KEY", ""), "KEY="),
    ],
)
def test_an_assignment_is_read_as_shells_and_slurm_write_it(expected, line):
    """An assignment is read without its comment, quotes and `export`."""
    assert [expected] == list(assignments(line))
