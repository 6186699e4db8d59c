"""
The identity of the instance, and the cores that exist on it.

A report may lack its hardware block, have an empty instance ID (a pod cannot reach instance
metadata) or contain zeros. Facts that were once known about this instance stay known. The metadata
service supplies facts that no report has; a report always takes precedence.
"""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING, Annotated, Final

from msgspec import Meta, Struct

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_emitter.fold.amounts import amount
from neuron_emitter.instance.instance_facts import InstanceFacts
from neuron_emitter.settings.minute_settings import is_printable
from neuron_wire.minute_record import MAX_MEMBER_CHARS
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from neuron_emitter.reports.groups import Hardware, Text, Whole
    from neuron_emitter.reports.report import Report

MAX_PHYSICAL: Final = 8
"""The most physical cores that one logical core may represent; 2 today."""

MAX_VERSION_CHARS: Final = 8  # `v3d` has 3 characters; a line has no room for a long text

CORE_INDEX: Final = {str(index): index for index in range(MAX_CORES)}
"""Core keys as integers: sorted as text, core 10 would come before core 2."""


def core_indexes(keys: Iterable[str]) -> set[int]:
    """
    Return the cores with these keys, without keys that no core can have.

    >>> sorted(core_indexes(["0", "12", "all", "-1"]))
    [0, 12]
    """
    return {CORE_INDEX[key] for key in keys if key in CORE_INDEX}


def is_core_key(key: str) -> bool:
    """Return True if *key* is a whole number: the index of a core, or beyond the last core."""
    return key in CORE_INDEX or (key.isascii() and key.isdigit() and key[0] != "0")


_INSTANCE_FIELDS: Final = {
    "instance_id": "instance_id", "instance_type": "instance_type", "region": "instance_region",
    "availability_zone": "instance_availability_zone", "ami_id": "ami_id",
    "ultraserver_id": "ultraserver_id", "instance_name": "instance_name",
}  # fmt: skip
"""Report field by our name of a text about the instance."""


_INVENTORY_LABELS: Final = (
    "InstanceName",
    "NeuronDeviceVersion",
    "NeuronCoreVersion",
    "LogicalNeuronCoreConfig",
)


# The IDs and types that the stack accepts; it rejects a minute with any other value.
_PRINTABLE: Final = r"\A[ -~]*[!-~][ -~]*\Z"
_Text = Annotated[str, Meta(min_length=1, max_length=128, pattern=_PRINTABLE)]
_Cores = Annotated[int, Meta(ge=1, le=MAX_CORES)]
Count = Annotated[int, Meta(ge=0, le=1 << 53)]


class KnownInstance(Struct):
    """Facts that the last run knew about its instance, each None if unknown."""

    instance_id: _Text | None = None
    instance_type: _Text | None = None
    cores: _Cores | None = None
    cores_per_device: _Cores | None = None
    device_memory_bytes: Count | None = None
    counts_no_device: bool = False


class Inventory:
    """
    The last known facts about this instance, starting from *known*.

    Attributes:
        reported: Texts of the reports, by the names of `_INSTANCE_FIELDS`.

        cores: Logical cores, or None while no report has them.

        cores_per_device: Logical cores of one device, or None.

        device_memory_bytes: Device memory of all devices, or None.

        counts_no_device: True if the last hardware block counts 0 devices or has an error.
    """

    def __init__(self, known: KnownInstance) -> None:
        texts = {"instance_id": known.instance_id, "instance_type": known.instance_type}
        self.reported = {name: text for name, text in texts.items() if text}
        self.cores = known.cores
        self.cores_per_device = known.cores_per_device
        self.device_memory_bytes = known.device_memory_bytes
        self.counts_no_device = known.counts_no_device
        self._labels: dict[str, str | int] = {}
        self._facts = InstanceFacts()
        self._is_named = False  # in a report of this run

    def learn_report(self, report: Report) -> bool:
        """
        Learn the facts about the instance in *report*.

        Returns:
            True if it is another instance than before.
        """
        info = report.instance_info
        hardware = report.neuron_hardware_info
        is_another = False
        if info is not None:
            texts = _texts(
                {name: getattr(info, member) for name, member in _INSTANCE_FIELDS.items()}
            )
            is_another = self._forget_another(texts)
            self._is_named |= not texts.keys().isdisjoint(("instance_id", "instance_type"))
            self.reported |= texts
        if hardware is not None:
            self._count(hardware)
        return is_another

    def learn_facts(self, facts: InstanceFacts) -> bool:
        """
        Learn the facts that reports may lack.

        Returns:
            True if it is another instance than before.
        """
        self._facts = InstanceFacts(**_texts(asdict(facts)))
        # Known facts are from an earlier run unless a report of this run has them, so *facts*
        # replace them.
        is_another = not self._is_named and self._forget_another(asdict(self._facts))
        if is_another:
            self.reported.clear()
        return is_another

    def instance(self) -> InstanceFacts:
        """
        Return all known facts about the instance, from reports and other sources.

        Account, lifecycle and type are known only for this instance; the reports may be of another
        one.
        """
        facts = asdict(self._facts)
        if _is_other(self.reported, facts, "instance_id"):
            facts |= dict.fromkeys(("account_id", "lifecycle", "instance_type"))
        return InstanceFacts(**{name: self.reported.get(name) or facts[name] for name in facts})

    def known_cores(self) -> Whole:
        """The number of cores from reports, otherwise from the instance type, otherwise None."""
        return self.cores or self._by_type("cores")

    def per_device(self) -> Whole:
        """The number of logical cores of one device."""
        return self.cores_per_device or self._by_type("cores_per_device")

    def memory_bytes(self) -> Whole:
        """Device memory of the whole instance, bytes."""
        return self.device_memory_bytes or self._by_type("device_memory_bytes")

    def labels(self) -> dict[str, str | int]:
        """Return facts that only people search for, by the name of their member."""
        known = {"InstanceName": self.reported.get("instance_name"), **self._labels}
        return {
            label: value for label in _INVENTORY_LABELS if (value := known.get(label)) is not None
        }

    def _forget_another(self, texts: Mapping[str, Text]) -> bool:
        """
        Forget the known facts if *texts* are of another instance. Return True if they are.

        The state may have come with a disk image, or the instance may have got another type.
        """
        names = ("instance_id", "instance_type")
        is_another = any(_is_other(self.reported, texts, name) for name in names)
        if is_another:
            # A report may lack the ID of the instance that got another type.
            self.reported = {
                name: text for name, text in self.reported.items() if name == "instance_id"
            }
            self._labels = {}
            self.cores = self.cores_per_device = self.device_memory_bytes = None
            self.counts_no_device = False
        return is_another

    def _count(self, hardware: Hardware) -> None:
        devices = hardware.neuron_device_count or 0
        for member, version in (
            ("NeuronDeviceVersion", hardware.neuron_device_version),
            ("NeuronCoreVersion", hardware.neuroncore_version),
        ):
            if version and is_printable(version, MAX_VERSION_CHARS):
                self._labels[member] = version
        if hardware.error or hardware.neuron_device_count == 0:
            self.counts_no_device = True
        if hardware.error or not 0 < devices <= MAX_CORES:
            return
        self.counts_no_device = False
        per_device = hardware.neuroncore_per_device_count or 0
        if per_device > 0 and devices * per_device <= MAX_CORES:
            self.cores = devices * per_device
            self.cores_per_device = per_device
        if 0 < (config := hardware.logical_neuroncore_config or 0) <= MAX_PHYSICAL:
            self._labels["LogicalNeuronCoreConfig"] = config
        if size := amount(hardware.neuron_device_memory_size):
            self.device_memory_bytes = size * devices

    def _by_type(self, name: str) -> Whole:
        row = INSTANCE_TYPES.get(self.instance().instance_type or "")
        return None if row is None else int(getattr(row, name))


def _is_other(known: Mapping[str, str], new: Mapping[str, Text], name: str) -> bool:
    return name in known and new.get(name) not in (None, known[name])


def _texts(values: Mapping[str, Text]) -> dict[str, str]:
    """Return the *values* that a record may contain."""
    return {
        name: text for name, text in values.items() if text and is_printable(text, MAX_MEMBER_CHARS)
    }
