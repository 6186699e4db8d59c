"""All that one question is answered with: the bill, what the next instance adds, other ways."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

from neuron_emf.cost.alternatives import Alternative, alternatives
from neuron_emf.cost.bill import bill, unknown, usd
from neuron_emf.cost.break_even import break_even
from neuron_emf.cost.emitter_lines import raw_bytes, report_bytes
from neuron_emf.cost.functions import shards_of
from neuron_emf.cost.interpolation import second_units_of
from neuron_emf.cost.quantities import dollars
from neuron_emf.cost.tariff import HOURS, MINUTES

if TYPE_CHECKING:
    from neuron_emf.cost.bill import BillEntry
    from neuron_emf.cost.break_even import BreakEven
    from neuron_emf.cost.fleet import FleetSpec
    from neuron_emf.cost.measurements import Measurements
    from neuron_emf.cost.question import Question

NOT_COUNTED: Final = (
    "free tiers (also DynamoDB's and Lambda's), discounts and taxes",
    "metrics, lines and instances already in the account, which reach cheaper tiers",
    "network: NAT gateways, VPC endpoints and what leaves a region",
    "queries, Live Tail and dashboard views",
    "explain, departure and messages, which cost only when an alarm or an instance changes",
    "KMS keys of your own, tracing",
)


@dataclass(frozen=True, slots=True)
class Estimate:
    """
    What is answered; amounts are USD a month, None where a price is unknown.

    Attributes:
        question: What was asked.

        measurements: What it is made from.

        entries: The bill.

        ways: What else could be done with the same fleet.

        further_instance_usd: What one more instance adds.

        further_cluster_usd: What the same instances in one more cluster add.

        break_even: What a fleet is told that is too small for a stack; None if it is not.
    """

    question: Question
    measurements: Measurements
    entries: list[BillEntry]
    ways: list[Alternative]
    further_instance_usd: float | None
    further_cluster_usd: float | None
    break_even: BreakEven | None = None

    @property
    def known_usd(self) -> float:
        """The sum of what has a price."""
        return usd(self.entries)

    @property
    def unknown(self) -> list[BillEntry]:
        """What has none."""
        return unknown(self.entries)

    @property
    def usd(self) -> float | None:
        """The whole bill."""
        return None if self.unknown else self.known_usd

    @property
    def fleet_usd(self) -> float | None:
        """What the instances cost."""
        each = self.question.usd_per_hour
        return None if each is None else HOURS * each * self.question.fleet.instances

    def each(self, count: int) -> float | None:
        """The bill shared among *count*."""
        return None if self.usd is None else self.usd / count

    def group_usd(self, group: str) -> float | None:
        """The sum of one group."""
        if any(entry.group == group for entry in self.unknown):
            return None
        return usd(self.entries, group)

    def share_of(self, other_usd: float | None) -> float | None:
        """Of something else; None if either is unknown."""
        return None if self.usd is None or not other_usd else self.usd / other_usd

    def minus(self, way: Alternative) -> float | None:
        """How much more the other way costs; below 0, how much less."""
        return None if self.usd is None or way.usd is None else way.usd - self.usd

    @property
    def unverified(self) -> list[str]:
        """What stands in the bill at a price that no published page was read for."""
        prices = self.question.tariff.prices
        used = dict.fromkeys(name for entry in self.entries for name in entry.prices)
        priced = (prices[name] for name in used if prices[name].usd is not None)
        return list(dict.fromkeys(price.what for price in priced if not price.is_verified))

    def second_write_units(self) -> dict[str, tuple[float, float | None]]:
        """
        How often owners take a second write unit, by what they are: share of minutes, USD a month.

        Those of four owners are in the bill. With a stream, records are packed together.
        """
        setup, fleet, tariff = self.question.setup, self.question.fleet, self.question.tariff
        if not setup.has_stack or setup.mode != "direct":
            return {}
        minutes = MINUTES * fleet.instances
        shares = second_units_of(self.measurements, fleet.cores)
        return {
            owners: (share, tariff.usd("write-unit", share * minutes))
            for owners, share in shares.items()
        }

    def cheaper(self) -> dict[str, float]:
        """
        Settings under which this bill would be smaller, with what they save.

        What `--metrics cluster` defines is in the rollups too, some minutes later.
        """
        question, setup = self.question, self.question.setup
        if self.usd is None or not setup.has_stack:
            return {}
        others = {"--mode direct": replace(setup, mode="direct", stream_shards=None)}
        if setup.mode == "direct":
            shards = shards_of(self.measurements, question.fleet)
            stream = replace(setup, mode="kinesis", stream_shards=shards)
            others = {f"--mode kinesis --stream-shards {shards}": stream}
        if setup.metrics == "cluster" and not setup.is_high_resolution:
            others["--metrics none"] = replace(
                setup, metrics="none", tag_dimensions=(), common_dims=()
            )
        saved = {
            name: self.usd - usd(bill(self.measurements, question.fleet, other, question.tariff))
            for name, other in others.items()
        }
        return {name: less for name, less in saved.items() if less > 0}

    def remarks(self) -> list[str]:
        """What a reader must know, a sentence each."""
        question, measurements = self.question, self.measurements
        said = [
            f"{entry.what}: price unknown, not in any sum; set it with --prices"
            for entry in self.unknown
        ]
        if question.usd_per_hour is None:
            said.append(
                f"the price of {question.instance_type} is unknown; set it with "
                f"--price-overrides {question.instance_type}=USD"
            )
        said += self._small_fleet()
        said += self._raw_reports()
        said += [f"{name} would save {dollars(less)} USD" for name, less in self.cheaper().items()]
        shards = question.setup.stream_shards
        if question.setup.has_stack and question.setup.mode == "kinesis" and shards:
            needed = shards_of(measurements, question.fleet)
            if shards < needed:
                said.append(
                    f"{shards} shards are too few for the busiest second, which needs {needed}: "
                    "records would be delayed"
                )
        cores = question.fleet.cores
        if cores not in measurements.by_cores:
            below = max(count for count in measurements.by_cores if count < cores)
            above = min(count for count in measurements.by_cores if count > cores)
            said.append(
                f"sizes of {cores} cores are between those measured of {below} and of {above}"
            )
        return said

    def _small_fleet(self) -> list[str]:
        found = self.break_even
        if found is None:
            return []
        said = "PutMetricData costs less than this"
        if found.instances is not None:
            said += f", and more from {found.instances:,} instances on"
            if found.instances_by_report is not None:
                said += f" ({found.instances_by_report:,} with a call per report)"
        alone = dollars(found.without_stack_usd)
        return [f"{said}: neuron-emf deploy --emitters-only costs {alone} USD (--no-stack)"]

    def _raw_reports(self) -> list[str]:
        setup, cores = self.question.setup, self.question.fleet.cores
        if setup.raw_reports is None:
            return []
        size = report_bytes(setup, cores)
        if not raw_bytes(setup, cores):
            return [f"a report of {size:,} bytes is longer than a log event and is not written"]
        if setup.raw_report_bytes is None:
            return [f"a raw report is taken to have {size:,} bytes: see --raw-report-bytes"]
        return []


def estimate(measurements: Measurements, question: Question) -> Estimate:
    """Answer *question*."""
    fleet, setup, tariff = question.fleet, question.setup, question.tariff
    entries = bill(measurements, fleet, setup, tariff)

    def added_by(other: FleetSpec) -> float | None:
        more = bill(measurements, other, setup, tariff)
        return None if unknown(more) else usd(more) - usd(entries)

    return Estimate(
        question=question,
        measurements=measurements,
        entries=entries,
        ways=alternatives(fleet, setup, tariff),
        further_instance_usd=added_by(replace(fleet, instances=fleet.instances + 1)),
        further_cluster_usd=added_by(replace(fleet, clusters=fleet.clusters + 1)),
        break_even=break_even(measurements, fleet, setup, tariff),
    )
