"""
One node with a real slurmctld, slurmd and munge, in namespaces of its own.

The caller already has its own mount, UTS and IPC namespaces. Processes are the machine's,
because the emitter names no owners in another PID namespace. Control groups are those of version
1, because Slurm's plugin for version 2 refuses a machine that has version 1: only `freezer` and
`devices` are mounted, and `devices` denies a job each device file that was not assigned to it.

GRES `gpu` stands for the Neuron devices: Slurm 22.05 restricts device files only for a GRES
with a plugin.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import Final, NamedTuple

from proof.real.device_machine import (
    DEVICES,
    add_users,
    environment,
    make_devices,
    open_ways,
    run,
    start_daemon,
    wait_for,
)

NODE_NAME: Final = "n1"
SLURM_CONF_TEXT: Final = """
ClusterName=training
SlurmctldHost={node}(127.0.0.1)
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
CryptoType=crypto/munge
MpiDefault=none
ProctrackType=proctrack/cgroup
TaskPlugin=task/cgroup
ReturnToService=2
StateSaveLocation={state}/slurmctld
SlurmdSpoolDir={state}/slurmd
SlurmctldPidFile=/run/slurm/slurmctld.pid
SlurmdPidFile=/run/slurm/slurmd.pid
SlurmctldPort=26817
SlurmdPort=26818
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerParameters=sched_interval=1,batch_sched_delay=0
SlurmctldLogFile={state}/slurmctld.log
SlurmdLogFile={state}/slurmd.log
GresTypes=gpu
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
AccountingStoreFlags=job_comment
MinJobAge=3
KillWait=1
{more}
NodeName={node} NodeAddr=127.0.0.1 CPUs=1 CoresPerSocket=1 Gres=gpu:{count} State=UNKNOWN
PartitionName=trn1 Nodes={node} Default=YES MaxTime=INFINITE State=UP OverSubscribe=FORCE:64
"""
CGROUP_CONF: Final = """
CgroupPlugin=cgroup/v1
CgroupMountpoint=/sys/fs/cgroup
CgroupAutomount=no
ConstrainDevices=yes
"""
JOB_SCRIPT: Final = """#!/bin/sh
for number in $(seq 0 {last}); do
  (: </dev/neuron$number) 2>&1 | grep -q "not permitted" || printf '%s ' $number
done >$OPENED.part
mv $OPENED.part $OPENED
exec sleep 1200
"""


class Job(NamedTuple):
    """
    A running job.

    Attributes:
        number: Slurm's number of the job.

        pid: The job's process that is not Slurm's own.

        opened: Numbers of the device files that the job can open.
    """

    number: str
    pid: int
    opened: frozenset[int]


def prepare_machine(state: Path) -> None:
    """Add users, devices, control groups, a host name and munge to this namespace's machine."""
    state.chmod(0o755)
    others = list(Path("/sys/fs/cgroup/freezer").glob("slurm*"))
    assert not others, f"Slurm runs here: {others[0]} exists. Stop slurmd first."
    run(["hostname", NODE_NAME])
    for folder in ("/run", "/sys/fs/cgroup"):
        run(["mount", "-t", "tmpfs", "-o", "mode=755", "proof", folder])
    for controller in ("freezer", "devices"):
        place = Path("/sys/fs/cgroup", controller)
        place.mkdir()
        run(["mount", "-t", "cgroup", "-o", controller, controller, str(place)])
    add_users()
    hosts = state / "hosts"  # a bind mount, because some machines mount the file
    hosts.write_text(f"127.0.0.1 localhost {NODE_NAME}\n", "ascii")
    run(["mount", "--bind", str(hosts), "/etc/hosts"])
    make_devices(state / "dev")
    open_ways(state)
    _start_munge(state / "munge")


class SlurmNode:
    """A controller and a node daemon with one configuration, from start to stop."""

    def __init__(self, state: Path, gres: str, count: int, more: str = "") -> None:
        self._state = state
        self._daemons: list[subprocess.Popen[bytes]] = []
        shutil.rmtree(state, ignore_errors=True)
        for folder in (state / "slurmctld", state / "slurmd", Path("/run/slurm")):
            folder.mkdir(parents=True, exist_ok=True)
        state.chmod(0o777)
        (state / "job.sh").write_text(JOB_SCRIPT.format(last=DEVICES - 1), "ascii")
        (state / "job.sh").chmod(0o755)
        configuration = Path("/etc/slurm")
        configuration.mkdir(exist_ok=True)
        text = SLURM_CONF_TEXT.format(node=NODE_NAME, state=state, count=count, more=more)
        (configuration / "slurm.conf").write_text(text, "ascii")
        (configuration / "gres.conf").write_text(gres, "ascii")
        (configuration / "cgroup.conf").write_text(CGROUP_CONF, "ascii")

    def __enter__(self) -> SlurmNode:  # noqa: PYI034 - Self is of Python 3.11
        for program in ("slurmctld", "slurmd"):
            errors = self._state / f"{program}.errors"
            self._daemons.append(start_daemon([program, "-D"], errors))
        try:
            wait_for(self._is_idle, "an idle node")
        except AssertionError as error:
            logs = [path.read_text("utf-8")[-1500:] for path in self._state.glob("slurm*.*r*s")]
            msg = f"{error}\n{' '.join(logs)}"
            self.__exit__()
            raise AssertionError(msg) from error
        return self

    def __exit__(self, *_: object) -> None:
        for daemon in reversed(self._daemons):
            daemon.terminate()
            daemon.wait()
        # steps outlive slurmd: end all processes in Slurm's groups
        for procs in Path("/sys/fs/cgroup/freezer").glob("slurm*/**/cgroup.procs"):
            for pid in procs.read_text("ascii").split():
                with suppress(ProcessLookupError):
                    os.kill(int(pid), signal.SIGKILL)
        folders = sorted(Path("/sys/fs/cgroup").glob("*/slurm*/**/"), key=str, reverse=True)
        for folder in folders:
            wait_for(partial(_removed, folder), f"an empty {folder}")

    def submit(self, user: str, account: str, *options: str) -> Job:
        """Start a batch job and return it when it runs."""
        opened = self._state / f"opened-{time.monotonic_ns()}"
        answer = run(
            [
                "sbatch",
                "--parsable",
                f"--account={account}",
                "--output=/dev/null",
                f"--export=ALL,OPENED={opened}",
                *options,
                str(self._state / "job.sh"),
            ],
            user,
        )
        number = answer.strip()
        wait_for(opened.exists, f"job {number} at work")
        numbers = frozenset(map(int, opened.read_text("ascii").split()))
        pid = wait_for(lambda: process_of(number), f"a process of job {number}")
        return Job(number, int(str(pid)), numbers)

    def _is_idle(self) -> bool:
        command = ["sinfo", "-h", "-o", "%T"]
        answer = subprocess.run(
            command, check=False, capture_output=True, text=True, env=environment({})
        )
        return answer.stdout.strip() == "idle"


def process_of(number: str) -> int | None:
    """Return the process of job *number* that is not Slurm's own, None if there is none."""
    for procs in Path("/sys/fs/cgroup/freezer").glob(f"slurm*/uid_*/job_{number}/**/cgroup.procs"):
        for pid in procs.read_text("ascii").split():
            if _command(pid) == "sleep":
                return int(pid)
    return None


def step_daemon(number: str) -> int:
    """Return the slurmstepd of the batch step of job *number*."""
    for entry in Path("/proc").glob("[0-9]*"):
        words = (entry / "cmdline").read_bytes().replace(b"\0", b" ")
        if words.startswith(f"slurmstepd: [{number}.batch]".encode()):
            return int(entry.name)
    msg = f"no slurmstepd of job {number}"
    raise AssertionError(msg)


def _command(pid: str) -> str:
    try:
        return Path("/proc", pid, "comm").read_text("ascii").strip()
    except OSError:
        return ""


def _removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:
        return False
    return True


def _start_munge(folder: Path) -> None:
    folder.mkdir()
    folder.chmod(0o755)
    Path("/run/munge").mkdir()
    key = folder / "key"
    key.write_bytes(os.urandom(128))
    key.chmod(0o400)
    start_daemon(
        [
            "munged",
            "--foreground",
            "--force",
            f"--key-file={key}",
            f"--log-file={folder / 'log'}",
            f"--seed-file={folder / 'seed'}",
            f"--pid-file={folder / 'pid'}",
            "--socket=/run/munge/munge.socket.2",
        ],
        folder / "errors",
    )
    wait_for(Path("/run/munge/munge.socket.2").exists, "a socket of munge")
