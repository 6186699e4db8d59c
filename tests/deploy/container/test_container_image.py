"""
The image as it is built and run; with doubles for what cannot be had here (`image`).

Needs root, buildah and mmdebstrap, and Debian's packages once: without them it says so and is
left out. No engine takes part, and not AWS's own neuron-monitor.
"""

from __future__ import annotations

import os
import signal

import pytest

from proof.emitter_process import wait_until
from tests.deploy.container.chroot import Container, status_of
from tests.deploy.container.image import BASE_VERSION, RELEASE, Image, build, make_base, missing

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]

OWN_COMPRESSED_BYTES = 20_000_000  # of the layers above the base; measured: 14
OWN_BYTES = 60_000_000  # of them unpacked; measured: 46
STOP_WITHIN_S = 10.0  # after which Docker kills
WORDS = "run --cluster=c --output=stdout --high-resolution-metrics --kernel-messages=none"
INSTANCE = {"AWS_EC2_METADATA_DISABLED": "true", "NEURON_SIM_INSTANCE_TYPE": "inf2.xlarge"}


@pytest.fixture(scope="module")
def image(request, shared_folder):
    """Built once; the Debian below it is kept for the next runs in pytest's cache."""
    if why := missing():
        pytest.skip(why)

    def make(folder):
        base = request.config.cache.mkdir("container") / f"{RELEASE}-{BASE_VERSION}.tar"
        if not base.exists():
            make_base(base)
        build(folder, base)

    try:
        return Image.read(shared_folder("container-image", make))
    except OSError as error:
        pytest.skip(str(error))


@pytest.fixture
def container(image, tmp_path):
    """One that runs and has written its first line about a report."""
    with Container(image, tmp_path / "lines", *WORDS.split(), **INSTANCE) as running:
        wait_until(lambda: running.lines() or not running.is_alive(), 60.0)
        assert running.is_alive(), running.said.read_text("utf-8")
        yield running


def test_a_repository_that_another_key_has_signed_is_refused(image):
    """Although the key's file holds that key too. So is a version that is not there."""
    assert "No good signature from required signer" in image.refused["key"]
    assert "was not found" in image.refused["version"]


def test_the_image_has_what_runs_and_nothing_that_builds(image):
    """One program of AWS's package, the environment, no source, no key, no package of a build."""
    root = image.rootfs
    assert ["neuron-monitor"] == [path.name for path in (root / "opt/aws/neuron/bin").iterdir()]
    assert ["aws", "neuron-emf"] == sorted(path.name for path in (root / "opt").iterdir())
    for gone in ("source", "tools", "wheels", "etc/apt/trusted.gpg.d/neuron.asc"):
        assert not (root / gone).exists()
    spool = (root / "var/lib/neuron-emf").stat()
    assert (10001, 10001, 0o700) == (spool.st_uid, spool.st_gid, spool.st_mode & 0o777)


def test_its_own_layers_are_small(image):
    """All above the base: the environment, neuron-monitor's double, the compiled modules."""
    _base, *own = image.layers
    compressed_bytes, unpacked_bytes = map(sum, zip(*own, strict=True))
    assert compressed_bytes < OWN_COMPRESSED_BYTES
    assert unpacked_bytes < OWN_BYTES


def test_it_runs_as_its_user_on_a_read_only_root_and_ends_in_order(container):
    """
    The emitter is the first process and neuron-monitor its one child; a stop has its Bye line
    before an engine would kill.
    """
    (monitor,) = container.tree()
    assert ["10001"] * 4 == monitor["Uid"].split() == status_of(container.first)["Uid"].split()
    health = container.health()
    assert (0, "") == (health.returncode, health.stderr)
    assert ["ok"] * 5 == [line.split()[0] for line in health.stdout.splitlines()]
    assert 0 == container.stop(STOP_WITHIN_S), container.said.read_text("utf-8")
    last = [line for line in container.lines() if line["Kind"] == "minute"][-1]
    assert (True, "c") == (last.get("Bye"), last["ClusterName"])
    assert last["ReportsRead"] >= 1


def test_a_monitor_that_is_killed_is_reaped_and_started_again(container):
    """Without a supervisor, and without a process that nobody waits for."""
    (before,) = container.tree()
    os.kill(int(before["Pid"]), signal.SIGKILL)

    def is_replaced():
        after = [status["Pid"] for status in container.tree()]
        return len(after) == 1 and after != [before["Pid"]]

    wait_until(is_replaced, 30.0)
    assert container.is_alive()
    assert 0 == container.health().returncode


def test_the_health_check_fails_where_no_emitter_runs(image, tmp_path):
    """Run as the image's command itself, with an empty spool: nothing else is there to hold it."""
    lines = tmp_path / "lines"
    with Container(image, lines, "check", "--quick") as running:
        wait_until(lambda: not running.is_alive(), 60.0)
    assert lines.read_text("utf-8").startswith(
        "failed      emitter   no emitter has left its pulse"
    )
