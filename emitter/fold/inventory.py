"""
Which instance this is, and which cores exist on it.

A report may come without its hardware block, with an empty instance id (no
instance metadata within reach of a pod) or with zeros; what was once known of
this instance stays known. The metadata service fills what no report has;
a report always wins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final

from emitter.fold.amounts import amount
from emitter.instance.facts import InstanceFacts
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.minute import MAX_TEXT_CHARS
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from collections.abc import Iterable

    from emitter.reports.groups import Hardware, InstanceInfo
    from emitter.reports.report import Report

MAX_PHYSICAL: Final = 8
"""Physical cores that one logical core may stand for; 2 today."""

MAX_VERSION_CHARS: Final = 8  # v3d; a line has room for no poem

CORE_INDEX: Final = {str(index): index for index in range(MAX_CORES)}
"""Core keys as integers: sorted as texts, core 10 would come before core 2."""


def core_indexes(keys: Iterable[str]) -> set[int]:
    """The cores that have these keys; a key that no core can have is left out."""
    return {CORE_INDEX[key] for key in keys if key in CORE_INDEX}


@dataclass(slots=True)
class Inventory:
    """
    The last known facts about this instance.

    Attributes:
        cores: Logical cores, or None while no report has them.

        cores_per_device: Logical cores of one device, or None.

        device_memory_bytes: Device memory of all devices, or None.

        physical_per_core: Physical cores behind a logical one, or None.

        instance_name: The tag Name, or None.

        device_version: Such as `v2`, or None.

        core_version: Such as `v3d`, or None.
    """

    instance_id: str | None = None
    instance_type: str | None = None
    region: str | None = None
    availability_zone: str | None = None
    ultraserver_id: str | None = None
    cores: int | None = None
    cores_per_device: int | None = None
    device_memory_bytes: int | None = None
    physical_per_core: int | None = None
    instance_name: str | None = None
    device_version: str | None = None
    core_version: str | None = None
    ami_id: str | None = None

    _facts: InstanceFacts = field(default_factory=InstanceFacts, repr=False)
    _is_named: bool = field(default=False, repr=False)  # by a report of this run

    def learn_report(self, report: Report) -> bool:
        """
        Learn what *report* says about the instance.

        Returns:
            Whether it is another instance than the one known before.
        """
        info, hardware = report.instance_info, report.neuron_hardware_info
        is_another = info is not None and self._identify(info)
        if hardware is not None:
            self._count(hardware)
        return is_another

    def learn_facts(self, facts: InstanceFacts) -> bool:
        """
        Learn the facts that reports may lack.

        Returns:
            Whether it is another instance than the one known before.
        """
        self._facts = facts
        if self._is_named:
            return False
        # What is known is from an earlier run: a newer word about it counts.
        is_another = _is_other(self.instance_id, _text(facts.instance_id)) or _is_other(
            self.instance_type, _text(facts.instance_type)
        )
        if is_another:
            self._forget()
            self.instance_id = None
        return is_another

    def instance(self) -> InstanceFacts:
        """
        All that is known of the instance, from reports and beside them.

        Account and lifecycle are known of this instance only, which reports may not be of.
        """
        facts = self._facts
        is_here = not _is_other(self.instance_id, _text(facts.instance_id))
        return InstanceFacts(
            instance_id=self.instance_id or _text(facts.instance_id),
            instance_type=self.instance_type or _text(facts.instance_type),
            region=self.region or _text(facts.region),
            availability_zone=self.availability_zone or _text(facts.availability_zone),
            ami_id=self.ami_id or _text(facts.ami_id),
            account_id=_text(facts.account_id) if is_here else None,
            lifecycle=_text(facts.lifecycle) if is_here else None,
        )

    def known_cores(self) -> int | None:
        """Cores as reported, else as the instance type has them, else None."""
        return self.cores or self._by_type("cores")

    def per_device(self) -> int | None:
        """Logical cores of one device."""
        return self.cores_per_device or self._by_type("cores_per_device")

    def memory_bytes(self) -> int | None:
        """Device memory of the whole instance, bytes."""
        return self.device_memory_bytes or self._by_type("device_memory_bytes")

    def labels(self) -> dict[str, str | int]:
        """What only people look for, by the name of its member."""
        known = {
            "InstanceName": self.instance_name,
            "NeuronDeviceVersion": self.device_version,
            "NeuronCoreVersion": self.core_version,
            "LogicalNeuronCoreConfig": self.physical_per_core,
        }
        return {member: value for member, value in known.items() if value is not None}

    def _identify(self, info: InstanceInfo) -> bool:
        instance_id, instance_type = _text(info.instance_id), _text(info.instance_type)
        is_another = _is_other(self.instance_id, instance_id) or _is_other(
            self.instance_type, instance_type
        )
        if is_another:
            self._forget()
        self._is_named = self._is_named or bool(instance_id or instance_type)
        self.instance_id = instance_id or self.instance_id
        self.instance_type = instance_type or self.instance_type
        self.region = _text(info.instance_region) or self.region
        self.availability_zone = _text(info.instance_availability_zone) or self.availability_zone
        self.ultraserver_id = _text(info.ultraserver_id) or self.ultraserver_id
        self.ami_id = _text(info.ami_id) or self.ami_id
        self.instance_name = _text(info.instance_name) or self.instance_name
        return is_another

    def _forget(self) -> None:
        """
        Nothing known of another instance holds here.

        Its state came along with a disk image, or this one was given another type.
        """
        self.instance_type = self.region = self.availability_zone = None
        self.ultraserver_id = self.ami_id = None
        self.cores = self.cores_per_device = self.device_memory_bytes = None
        self.physical_per_core = None
        self.instance_name = self.device_version = self.core_version = None

    def _count(self, hardware: Hardware) -> None:
        devices = hardware.neuron_device_count or 0
        self.device_version = _version(hardware.neuron_device_version) or self.device_version
        self.core_version = _version(hardware.neuroncore_version) or self.core_version
        if hardware.error or not 0 < devices <= MAX_CORES:
            return
        per_device = hardware.neuroncore_per_device_count or 0
        if per_device > 0 and devices * per_device <= MAX_CORES:
            self.cores = devices * per_device
            self.cores_per_device = per_device
        if 0 < (config := hardware.logical_neuroncore_config or 0) <= MAX_PHYSICAL:
            self.physical_per_core = config
        if size := amount(hardware.neuron_device_memory_size):
            self.device_memory_bytes = size * devices

    def _by_type(self, name: str) -> int | None:
        row = INSTANCE_TYPES.get(self.instance_type or self._facts.instance_type or "")
        return None if row is None else int(getattr(row, name))


def _is_other(known: str | None, new: str | None) -> bool:
    return known is not None and new is not None and known != new


def _version(found: str | None) -> str | None:
    return None if found is None or len(found) > MAX_VERSION_CHARS else _text(found)


def _text(text: str | None) -> str | None:
    """A text that may stand in a record, or None: metadata that is empty or no id."""
    if text is None or not text.strip() or len(text) > MAX_TEXT_CHARS:
        return None
    return text if text.isascii() and text.isprintable() else None
