"""The processes of a simulated machine are named by the real attribution as they were asked for."""

from __future__ import annotations

import pytest

from emitter.owners import saved_given, saved_owners
from local.monitor.instance import SimulatedInstance
from local.monitor.processes import GONE, write_processes

FOUR = SimulatedInstance("inf2.48xlarge", "multi-runtime", 5)
NAMES = ("slurm:4711 ml-user", "ecs:embeddings/api", "unit:jupyter-ada", "chat/llama-0/server")


def named(root, instance):
    """What the emitter calls the owners of the runtimes, in their order."""
    owner_of = saved_owners(root / "proc", lambda: 1000.0)
    owners = [owner_of(runtime.pid) for runtime in instance.runtimes]
    return tuple(owner and owner.name for owner in owners)


@pytest.mark.parametrize("names", [NAMES, ("process:python3 grace", "process:uvicorn ada") * 2])
def test_every_form_is_read_as_it_was_given(tmp_path, names):
    """By files alone, which are all that there is."""
    write_processes(tmp_path, FOUR, names)
    assert names == named(tmp_path, FOUR)


def test_who_is_gone_keeps_the_name_and_nothing_else(tmp_path):
    """The pod's folders and the job's control group are missing while both processes live."""
    write_processes(tmp_path, FOUR, tuple(f"{name}{GONE}" for name in NAMES))
    assert NAMES == named(tmp_path, FOUR)
    assert not (tmp_path / "sys" / "fs").exists()
    assert not (tmp_path / "var" / "log").exists()
    write_processes(tmp_path, FOUR, NAMES)
    for runtime in FOUR.runtimes:
        group = (tmp_path / f"proc/{runtime.pid}/cgroup").read_text("utf-8").strip()
        assert (tmp_path / f"sys/fs/cgroup{group.removeprefix('0::')}").is_dir()
    assert ["chat_llama-0_"] == [
        one.name[:13] for one in (tmp_path / "var" / "log" / "pods").iterdir()
    ]


def test_what_pods_were_given_is_read_as_it_was_given(tmp_path):
    """By the checkpoint alone; each has a process, so that none of them has ended."""
    pods = {"search/ranker-1/server": {18, 19}, "ml/trainer-0/main": {0}}
    given = [f"{pod}={','.join(map(str, cores))}" for pod, cores in pods.items()]
    write_processes(tmp_path, FOUR, ("chat/llama-0/server",) * 4, given)
    found = saved_given(tmp_path / "proc")
    assert pods == {one.name: set(one.cores) for one in found.allocations}
    assert all(one.is_verified for one in found.allocations)


@pytest.mark.parametrize("owners", [("unit:a",), ("slurm:x",) * 4])
def test_owners_that_do_not_fit_are_refused(tmp_path, owners):
    """Too few, or of no form; nothing is written."""
    with pytest.raises(ValueError, match=r"argument|unpack"):
        write_processes(tmp_path / "m", FOUR, owners)
    assert not (tmp_path / "m").exists()
