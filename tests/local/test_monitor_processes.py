"""The processes of a simulated machine are named by the real attribution as they were asked for."""

from __future__ import annotations

import os

import pytest

from emitter.owners import Places, owners_of, saved_owners
from local.monitor.command_line import main
from local.monitor.instance import SimulatedInstance
from local.monitor.processes import GONE, write_processes

FOUR = SimulatedInstance("inf2.48xlarge", "multi-runtime", 5)
NAMES = ("slurm:4711 ml-user", "ecs:embeddings/api", "unit:jupyter-ada", "chat/llama-0/server")


def named(root, instance):
    """What the emitter calls the owners of the runtimes, in their order."""
    owner_of = saved_owners(root / "proc")
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


def test_the_machine_is_the_instance_of_the_reports(tmp_path, caplog):
    """So that a running emitter names its processes, on whatever machine it is rehearsed."""
    write_processes(tmp_path, FOUR, NAMES)
    owners = owners_of("auto", "monitor", tmp_path / "proc")
    assert owners is not None
    owners.close()
    assert [] == caplog.messages
    tag = Places.beside(tmp_path / "proc").root / "sys/devices/virtual/dmi/id/board_asset_tag"
    assert FOUR.instance_id == tag.read_text("utf-8").strip()


def test_what_is_written_again_is_not_touched(tmp_path):
    """An emitter may be reading it."""
    write_processes(tmp_path, FOUR, NAMES)
    stat = tmp_path / "proc" / "1" / "stat"
    os.utime(stat, (1, 1))
    write_processes(tmp_path, FOUR, NAMES)
    assert 1 == stat.stat().st_mtime


@pytest.mark.parametrize(
    ("owners", "says"),
    [
        ("unit:a,unit:b", "has 1 runtimes on this type, and 2 owners were given"),
        ("", "has 1 runtimes on this type, and 0 owners were given"),
        ("slurm:x ada", "'slurm:x ada' has no form of an owner that can be played"),
    ],
)
def test_owners_that_do_not_fit_are_refused(tmp_path, capsys, owners, says):
    """Exit code 2, and nothing is written."""
    with pytest.raises(SystemExit) as ended:
        main(("--machine", str(tmp_path / "m"), "--owners", owners, "--reports", "0"), {})
    assert 2 == ended.value.code
    assert says in capsys.readouterr().err
    assert not (tmp_path / "m").exists()
