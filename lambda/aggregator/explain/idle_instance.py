"""An instance with idle cores in a rollup: their owners, and the work of its other cores."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING, Final

from neuron_accounts.instance_types import INSTANCE_TYPES
from neuron_wire.core_members import core_ranges, cores_in
from neuron_wire.line_members import entries_in, number_in, text_in
from neuron_wire.names import (
    BUSY_STATE,
    MICRO,
    NOT_REPORTED_OWNER,
    OTHER_OWNERS,
    RESERVATIONS_UNKNOWN,
    UNALLOCATED_OWNER,
)
from neuron_wire.owners import UNNAMED_OWNER
from neuron_words.now_words import host_words
from neuron_words.quantity_words import amount, counted, share_words

if TYPE_CHECKING:
    from collections.abc import Iterable

    from neuron_accounts.now import IdleOwner
    from neuron_wire.line_members import JsonObject

_IDLE_HOST: Final = 50  # percent of one vCPU: a compiler uses only one for most of an hour


def core_set(cores: JsonObject, member: str) -> set[int]:
    """Return the cores of a member, none if it cannot be read."""
    return set(cores_in(cores, member))


def cores_words(cores: Iterable[int]) -> str:
    """Return `core 3`, or `cores 0-7,12`."""
    shown = core_ranges(cores)
    return f"{'core' if shown.isdigit() else 'cores'} {shown}"


def idle_cores_of(entry: JsonObject, owner: str) -> set[int]:
    """Return the idle cores of *entry* that belong to *owner*, which may be a placeholder."""
    idle = core_set(entry, "Cores")
    owners = entries_in(entry, "Owners")
    if owner == OTHER_OWNERS:
        return idle & core_set(entry, "OwnersMore")
    if owner in {NOT_REPORTED_OWNER, UNALLOCATED_OWNER}:
        had = [core_set(each, "Reserved") for each in owners] + [core_set(entry, "OwnersMore")]
        attached = core_set(entry, "AttachedCores")
        free = idle - attached.union(*had)
        is_allocation_unknown = text_in(entry, "Reservations") == RESERVATIONS_UNKNOWN
        if is_allocation_unknown != (owner == NOT_REPORTED_OWNER):
            free.clear()
        return free if owners or owner == UNALLOCATED_OWNER else free | attached
    wanted = {"", UNNAMED_OWNER} if owner in {"", UNNAMED_OWNER} else {owner}
    cores = (
        core_set(holding, member)
        for holding in owners or entries_in(entry, "Holders")
        if text_in(holding, "Name") in wanted
        for member in ("Cores", "Reserved")
    )
    return idle & set().union(*cores)


def is_fully_idle(entry: JsonObject) -> bool:
    """Return True if no core of *entry* works and nothing executes."""
    cores = number_in(entry, "NeuronCores")
    idle = number_in(entry, "IdleCores")
    return cores is not None and cores == idle and not number_in(entry, "Executions")


def is_in_other_clusters(entry: JsonObject) -> bool:
    """Return True if the instance of *entry* is also in another cluster."""
    return entry.get("InOtherClusters") is True


def host_sentence(entry: JsonObject) -> str:
    """Return `25 of 128 vCPUs are busy: it may be compiling or loading data`."""
    kind = INSTANCE_TYPES.get(text_in(entry, "InstanceType"))
    vcpus = kind.vcpus if kind else None
    percent = number_in(entry, "HostCpuPercent")
    words = host_words(percent, vcpus)
    if words and (percent or 0) * (vcpus or 0) < _IDLE_HOST:
        return words
    return f"{words or 'The load of its host is unknown'}: it may be compiling or loading data"


def work_words(entry: JsonObject, row: IdleOwner) -> str:
    """Return `cores 0-15 are busy at 77 %, 52,076 executions in the last minute`."""
    parts = []
    busy = {core for core, letter in enumerate(text_in(entry, "CoreState")) if letter == BUSY_STATE}
    cores = {
        text_in(owner, "Name"): core_set(owner, "Cores") for owner in entries_in(entry, "Owners")
    }
    if theirs := busy & cores.get(row.owner, set()):
        percent = number_in(entry, "BusyUtilization")
        of_all = ""
        if percent is not None and theirs == busy:
            of_all = f" at {share_words(percent)}"
        verb = "is" if len(theirs) == 1 else "are"
        parts.append(f"{cores_words(theirs)} {verb} busy{of_all}")
    elif row.busy:
        parts.append(f"busy on {counted(row.busy / MICRO, 'core')}")
    if row.executions:
        parts.append(f"{counted(row.executions, 'execution')} in the last minute")
    return ", ".join(parts)


def fewer_cores_advice(entry: JsonObject, row: IdleOwner) -> str:
    """Return how many devices a request for fewer cores would free: only fully idle devices."""
    kind = INSTANCE_TYPES.get(text_in(entry, "InstanceType"))
    per_device = (number_in(entry, "NeuronCores") or 0) / kind.devices if kind else 0
    if row.allocated is None or per_device < 1 or per_device % 1:
        return "fewer cores may be enough"
    theirs = idle_cores_of(entry, row.owner)
    idle = theirs | idle_cores_of(entry, UNALLOCATED_OWNER)
    devices = Counter(core // per_device for core in idle)
    freed = [core // per_device for core in theirs if devices[core // per_device] == per_device]
    if not freed:
        return "none of its devices is fully idle, so asking for fewer cores frees no device"
    cores = amount(row.allocated / MICRO - len(freed))
    return f"asking for {cores} cores frees {counted(len({*freed}), 'device')}"
