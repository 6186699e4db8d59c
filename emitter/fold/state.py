"""
What must survive a restart.

Written by one release and read by another, older or newer: what cannot be read
begins again, and costs nothing else.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Final

import msgspec

from emitter.fold.inventory import Inventory
from emitter.fold.quiet import MAX_NAMES
from emitter.fold.runtime_history import RuntimeHistories
from emitter.kernel.position import LogState
from neuron_wire.names import MAX_CORES

if TYPE_CHECKING:
    from emitter.fold.idle import IdleMinutes
    from emitter.fold.quiet import QuietMinutes

_Cores = Annotated[int, msgspec.Meta(ge=1, le=MAX_CORES)]
_Count = Annotated[int, msgspec.Meta(ge=0, le=1 << 53)]
# What the stack takes of an id or a type: a minute with anything else is refused as a whole.
_PRINTABLE: Final = r"\A[ -~]*[!-~][ -~]*\Z"
_Text = Annotated[str, msgspec.Meta(min_length=1, max_length=128, pattern=_PRINTABLE)]


class FoldState(msgspec.Struct, frozen=True):
    """
    What the next start goes on from.

    Who this is, idle and quiet minutes, runtimes, last ECC values, how far the kernel log was read.
    """

    instance_id: _Text | None = None
    instance_type: _Text | None = None
    cores: _Cores | None = None
    cores_per_device: _Cores | None = None
    device_memory_bytes: _Count | None = None
    idle_label: _Count | None = None
    idle_minutes: Annotated[list[_Count], msgspec.Meta(max_length=MAX_CORES)] = []
    idle_watched: _Count | None = None
    quiet_label: _Count | None = None
    quiet_minutes: Annotated[dict[str, _Count], msgspec.Meta(max_length=MAX_NAMES)] = {}
    ecc: dict[str, _Count] = {}
    histories: RuntimeHistories = msgspec.field(default_factory=RuntimeHistories)
    kernel: LogState = LogState()

    @classmethod
    def of(
        cls,
        inventory: Inventory,
        idle_and_quiet: tuple[IdleMinutes, QuietMinutes],
        histories: RuntimeHistories,
        ecc: dict[str, int],
        kernel: LogState,
    ) -> FoldState:
        """What the parts of the fold have to leave, and *kernel*."""
        idle, quiet = idle_and_quiet
        return cls(
            instance_id=inventory.instance().instance_id,
            instance_type=inventory.instance_type,
            cores=inventory.cores,
            cores_per_device=inventory.cores_per_device,
            device_memory_bytes=inventory.device_memory_bytes,
            idle_label=idle.label,
            idle_minutes=idle.minutes,
            idle_watched=idle.watched,
            quiet_label=quiet.label,
            quiet_minutes=quiet.minutes,
            ecc=ecc,
            histories=histories,
            kernel=kernel,
        )

    def inventory(self) -> Inventory:
        """What an earlier run knew of the instance."""
        return Inventory(
            instance_id=self.instance_id,
            instance_type=self.instance_type,
            cores=self.cores,
            cores_per_device=self.cores_per_device,
            device_memory_bytes=self.device_memory_bytes,
        )

    def encoded(self) -> bytes:
        """As bytes for the next start."""
        return msgspec.json.encode(self)


_decode_members: Final = msgspec.json.Decoder(dict[str, msgspec.Raw]).decode


def read_state(encoded: bytes | None) -> FoldState:
    """Read what an earlier run left, member by member where the whole cannot be read."""
    if encoded is None:
        return FoldState()
    try:
        return msgspec.json.decode(encoded, type=FoldState)
    except (ValueError, RecursionError):
        pass
    try:
        members = _decode_members(encoded)
    except (ValueError, RecursionError):
        return FoldState()
    fields: dict[str, Any] = {}
    for field in msgspec.structs.fields(FoldState):
        if field.name in members:
            try:
                fields[field.name] = msgspec.json.decode(members[field.name], type=field.type)
            except (ValueError, RecursionError):
                continue  # of another release, or damaged
    if fields.get("idle_label") is None:
        # Counts without their label are of any age.
        fields.pop("idle_minutes", None)
    if fields.get("quiet_label") is None:
        fields.pop("quiet_minutes", None)
    return FoldState(**fields)


def with_kernel(state: bytes | None, kernel: LogState) -> bytes:
    """*state*, as a run has left it, with *kernel* in it."""
    return msgspec.structs.replace(read_state(state), kernel=kernel).encoded()
