"""
One instance that plays one scenario: what is true at each report.

How neuron-monitor would say so is the business of the report modules; what a
reader must make of it is the business of `truth`.
"""

from __future__ import annotations

import hashlib
import random
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from local.monitor.hosts import host
from local.monitor.load import Load
from local.monitor.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Mapping

ECC_COUNTERS: Final = (
    "mem_ecc_corrected", "mem_ecc_uncorrected", "sram_ecc_uncorrected", "sram_ecc_corrected",
)  # fmt: skip
REGION: Final = "us-west-2"


@dataclass(frozen=True, slots=True)
class SimulatedRuntime:
    """
    One process with Neuron cores.

    Attributes:
        pid: Its process id.

        tag: `neuron_runtime_tag`.

        held: Cores with its models and bytes on them.

        busy: Those of them that execute.

        load: Its work.

        failing_every: Reports from one failure of its core counters to the next; 0 for never.
    """

    pid: int
    tag: str
    held: tuple[int, ...]
    busy: tuple[int, ...]
    load: Load
    failing_every: int


@dataclass(frozen=True, slots=True)
class Moment:
    """
    What one runtime did in one report.

    Attributes:
        percents: Utilization of the cores that executed.

        counters_failed: Whether the monitor could not read its core counters.
    """

    percents: Mapping[int, float]
    counters_failed: bool


class SimulatedInstance:
    """
    The instance.

    Attributes:
        host: What it is made of.

        scenario: What is going on on it.

        instance_id: Its id; derived from the other arguments unless given.
    """

    def __init__(
        self, instance_type: str, scenario: str, seed: int, instance_id: str | None = None
    ) -> None:
        self.host = host(instance_type)
        self.scenario = SCENARIOS[scenario]
        self._seed = f"{instance_type}/{scenario}/{seed}"
        digest = hashlib.sha256(self._seed.encode()).hexdigest()
        self.instance_id = f"i-0{digest[:16]}" if instance_id is None else instance_id
        self._digest = digest
        self._first_pid = 2_000 + int(digest[:8], 16) % 30_000
        self.runtimes = tuple(self._runtimes())

    @property
    def cores(self) -> int:
        """Logical cores of the instance."""
        return self.host.hardware.cores

    def rng(self, what: str) -> random.Random:
        """Chance that depends on the instance and on *what*, and on nothing else."""
        return random.Random(f"{self._seed}/{what}")

    def moment(self, runtime: SimulatedRuntime, number: int, rng: random.Random) -> Moment:
        """What *runtime* did in report *number*, the first being 0."""
        if number == 0:
            # The first sample covers milliseconds: whatever ran at that instant
            # fills it, or misses it.
            percents = {core: 100 * rng.random() for core in runtime.busy}
            return Moment(percents, counters_failed=False)
        every = runtime.failing_every
        failed = every > 0 and number % every == 0
        return Moment(runtime.load.percents(number, rng), failed)

    def ecc(self, device: int, number: int) -> dict[str, int]:
        """
        ECC counters of one device at report *number*: totals since the monitor started.

        They start from 0, so that a monitor that is started again counts
        nothing twice for a reader who takes a lower value for a restart.
        """
        if not (self.scenario.ecc_rises and self.host.family.counts_ecc):
            return dict.fromkeys(ECC_COUNTERS, 0)
        every = 4 + 3 * device
        return {
            "mem_ecc_corrected": number // every,
            "mem_ecc_uncorrected": number // (every * 7),
            "sram_ecc_uncorrected": number // (every * 11),
            "sram_ecc_corrected": number // (every * 3),
        }

    def identity_block(self) -> dict[str, object]:
        """The report's `instance_info`."""
        zone = "abcd"[int(self._digest[8], 16) % 4]
        block: dict[str, object] = {
            "instance_name": "",
            "instance_id": self.instance_id,
            "instance_type": self.host.hardware.name,
            "instance_availability_zone": f"{REGION}{zone}",
            "instance_availability_zone_id": f"usw2-az{'abcd'.index(zone) + 1}",
            "instance_region": REGION,
            "ami_id": f"ami-0{self._digest[16:32]}",
            "subnet_id": f"subnet-0{self._digest[32:48]}",
        }
        if self.host.hardware.name.startswith("trn2u."):
            block["ultraserver_id"] = f"u-0{self._digest[48:63]}"
        block["error"] = ""
        return block

    def _runtimes(self) -> list[SimulatedRuntime]:
        shares = self.scenario.shares(self.cores)
        runtimes = []
        for index, share in enumerate(shares):
            pid = self._first_pid + 3 * index
            is_last = index == len(shares) - 1
            busy = tuple(share.busy)
            runtimes.append(
                SimulatedRuntime(
                    pid=pid,
                    tag=str(pid) if self.scenario.tag is None else self.scenario.tag,
                    held=tuple(share.held),
                    busy=busy,
                    load=Load(self.scenario, busy, f"{self._seed}/load {index}"),
                    failing_every=self.scenario.counters_fail_every if is_last else 0,
                )
            )
        return runtimes
