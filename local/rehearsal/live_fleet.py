"""
Two clusters of simulated instances, and the real emitters on them.

One cluster has idle cores, both held and unattached. The other cluster works. Their runtimes have
every kind of owner that attribution can name: jobs, pods, a task, a unit, a process. Every process
is the program that a user would run, except neuron-monitor: the emitters start the simulator
instead.
"""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import msgspec

from local import REPOSITORY
from local.embedded_aws.child_processes import ChildProcess, EmbeddedAwsError
from local.monitor.owner_processes import GONE_SUFFIX
from local.monitor.play import Play
from local.monitor.simulated_instance import SimulatedInstance

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

    from local.rehearsal.workspace import Workspace

MONITOR_PROGRAM: Final = REPOSITORY / "local" / "monitor" / "neuron-monitor"
LIVE_PERIOD_S: Final = 5  # the emitter's default


@dataclass(frozen=True, slots=True)
class FleetInstance:
    """
    One simulated instance of a cluster.

    Attributes:
        scenario: A scenario of the simulator.

        seed: Determines the numbers, the same in history and live.

        owners: The owner of each runtime, in the form of `local.monitor.owner_processes`.

        assigned: Cores that Kubernetes assigned on the instance, in the same form.
    """

    cluster: str
    instance_type: str
    scenario: str
    seed: int
    owners: tuple[str, ...]
    assigned: tuple[str, ...] = ()

    @property
    def simulated(self) -> SimulatedInstance:
        """The simulated instance."""
        return SimulatedInstance(self.instance_type, self.scenario, self.seed)

    def play(self, **members: Any) -> Play:  # noqa: ANN401  # those of `Play`
        """The scenario for its simulator."""
        return Play(
            instance_type=self.instance_type, scenario=self.scenario, seed=self.seed, **members
        )

    @property
    def instance_id(self) -> str:
        """The ID in its reports."""
        return self.simulated.instance_id

    @property
    def name(self) -> str:
        """The name for messages and files."""
        return f"{self.cluster}-{self.instance_type}-{self.scenario}-{self.seed}"


_CHAT_PODS: Final = (
    "chat/llama-70b-0/server",
    "chat/llama-70b-1/server",
    "chat/llama-70b-2/server",
)
REHEARSED_FLEET: Final = (
    FleetInstance("research", "trn1.32xlarge", "busy", 1, ("slurm:4702 nlp-user",)),
    FleetInstance("research", "trn1.32xlarge", "half-idle", 2, ("unit:jupyter-ada",)),
    FleetInstance("research", "trn1.32xlarge", "idle", 3, ("slurm:4711 ml-user",)),
    FleetInstance("research", "trn1.2xlarge", "empty", 4, ()),
    # A rank of a job that works on another instance waits.
    FleetInstance("research", "trn1.2xlarge", "idle", 9, ("slurm:4702 nlp-user",)),
    # The last pod was deleted, its process was not, and its cores were assigned to another pod.
    FleetInstance(
        "serving",
        "inf2.48xlarge",
        "multi-runtime",
        5,
        (*_CHAT_PODS, f"search/ranker-0/server{GONE_SUFFIX}"),
        ("search/ranker-1/server=18,19,20,21,22,23",),
    ),
    # A pod that has cores and opens none.
    FleetInstance("serving", "inf2.xlarge", "empty", 10, (), ("ml/trainer-0/main=0,1",)),
    FleetInstance("serving", "inf2.8xlarge", "low", 6, ("ecs:embeddings/api",)),
    FleetInstance("serving", "inf2.xlarge", "errors", 7, ("process:python3 grace",)),
    FleetInstance("serving", "trn2.3xlarge", "busy", 8, ("mail/spam-filter-0/model",)),
)

KERNEL_MESSAGES: Final = b"6,0,0,-;a simulated kernel, whose hardware is well\n"
"""The kernel log of every member, in the form of /dev/kmsg: this machine's own is not read."""


def python_environment(base: Mapping[str, str]) -> dict[str, str]:
    """
    Return variables with which our packages are found in the repository.

    Settings of the user's own emitter or simulator are omitted.
    """
    kept = {name: base[name] for name in base if not name.startswith(("NEURON_EMF_", "NEURON_SIM"))}
    return {
        **kept,
        "PYTHONPATH": f"{REPOSITORY}:{REPOSITORY / 'lambda'}",
        "PYTHONDONTWRITEBYTECODE": "1",
        "NEURON_SIM_PYTHON": sys.executable,
    }


class LiveFleet:
    """One `neuron-emf run` per member, each with its own simulated neuron-monitor."""

    def __init__(
        self, workspace: Workspace, environment: Mapping[str, str], log_group: str
    ) -> None:
        self._workspace = workspace
        self._environment = python_environment(environment)
        self._log_group = log_group
        self._emitters: list[ChildProcess] = []
        self._truths: dict[FleetInstance, Path] = {}

    def start_emitter(self, member: FleetInstance) -> None:
        """Start the emitter of *member* on the spool and the machine that its history left."""
        folder = self._workspace.folder
        temporary = folder / "tmp"
        temporary.mkdir(exist_ok=True)
        truth = folder / f"{member.name}.live-truth"
        kernel = folder / f"{member.name}.kmsg"
        kernel.write_bytes(KERNEL_MESSAGES)
        self._truths[member] = truth
        emitter = ChildProcess(
            f"the emitter of {member.name}",
            [
                *(sys.executable, "-m", "neuron_emitter", "run"),
                *("--cluster", member.cluster, "--log-group", self._log_group),
                *("--spool-dir", str(spool_folder(folder, member))),
                *("--monitor-command", str(MONITOR_PROGRAM), "--period", str(LIVE_PERIOD_S)),
                *("--kernel-messages", f"file:{kernel}"),
                *("--proc-dir", str(machine_folder(folder, member) / "proc")),
            ],
            environment={
                **self._environment,
                "TMPDIR": str(temporary),
                "NEURON_SIM": msgspec.json.encode(member.play(truth=str(truth))).decode(),
            },
            folder=REPOSITORY,
            output=folder / f"{member.name}.log",
        )
        self._emitters.append(self._workspace.adopt(emitter))

    def check_emitters(self) -> None:
        """
        Check that every emitter still runs.

        Raises:
            EmbeddedAwsError: If one has ended.
        """
        for emitter in self._emitters:
            if emitter.exit_code() is not None:
                msg = f"{emitter.name} stopped unexpectedly with exit code {emitter.exit_code()}"
                raise EmbeddedAwsError(msg, emitter.tail())

    def stop_emitters(self, patience_s: float) -> list[str]:
        """Shut every emitter down cleanly. Return the problems."""
        for emitter in self._emitters:
            emitter.ask_to_stop()
        wrong = []
        for emitter in self._emitters:
            code = emitter.wait(patience_s)
            if code is None:
                wrong.append(f"{emitter.name} did not stop within {patience_s:.0f} s of SIGTERM")
            elif code:
                wrong.append(f"{emitter.name} stopped with exit code {code}")
        return wrong

    @property
    def written_truths(self) -> list[Path]:
        """Return the truth files that have a report."""
        return [path for path in self._truths.values() if path.exists() and path.stat().st_size]

    def silent_members(self) -> list[FleetInstance]:
        """Return members whose simulator wrote no report: nothing is expected of them."""
        written = self.written_truths
        return [member for member, truth in self._truths.items() if truth not in written]


def spool_folder(folder: Path, member: FleetInstance) -> Path:
    """Return the folder in which *member*'s emitter keeps its records."""
    return folder / "spools" / member.name


def machine_folder(folder: Path, member: FleetInstance) -> Path:
    """Return the folder of *member*'s machine: its `/proc` and the files next to it."""
    return folder / "machines" / member.name
