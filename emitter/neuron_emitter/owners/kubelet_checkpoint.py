"""
The assignments of the kubelet, from its own checkpoint files.

The device manager's file is internal to the kubelet and lists too much: entries of deleted pods
stay until it writes again, so a pod counts only while it has a folder. The file also has the
plugin's answer with the device files of each container. If the container requested devices, these
files count. If it requested cores, they do not, because each container numbers its cores from 0;
the IDs count. From
https://github.com/kubernetes/kubernetes/tree/master/pkg/kubelet/cm/devicemanager/checkpoint and
https://github.com/kubernetes/kubernetes/tree/master/pkg/kubelet/cm/dra/state
"""

from __future__ import annotations

import base64
from collections import defaultdict
from itertools import chain, repeat
from typing import TYPE_CHECKING, Any, Final

from msgspec import Struct, field, json

from neuron_emitter.instance.machine import read_bytes
from neuron_emitter.owners.assignments import UnknownAssignmentsError
from neuron_emitter.owners.container_names import PodName, logged_pods
from neuron_emitter.owners.kubelet import (
    DEVICES_RESOURCES,
    DRA_DRIVER,
    KUBELET,
    RUN_AS_ROOT,
    PodIds,
    mark_ended_pods,
)
from neuron_emitter.owners.membership import Presence
from neuron_emitter.owners.pod_resources import fields

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_emitter.owners.assignments import Allocations
    from neuron_emitter.owners.places import Places

PLUGINS_FILE: Final = f"{KUBELET}/device-plugins/kubelet_internal_checkpoint"
CLAIMS_FILE: Final = f"{KUBELET}/dra_manager_state"
MAX_CHECKPOINT_BYTES: Final = 4 << 20

_DEVICE_FOLDER: Final = "/dev/"
_NO_CLAIMS: Final = b'{"Data":"{}"}'  # there is no file if no driver has claimed devices
_CHECKPOINT_REMEDY: Final = "Mount the node's folders /var/lib/kubelet and /var/log/pods, read-only"


class _Checkpoint(Struct, gc=False, rename="pascal"):
    """Part of a checkpoint, with the kubelet's names of members: `ResourceName`."""


class _Entry(_Checkpoint):
    container_name: str
    resource_name: str
    pod: str = field(name="PodUID")
    # By NUMA node.
    ids: dict[str, list[str]] | None = field(name="DeviceIDs", default=None)
    alloc_resp: str | None = None


class _Plugins(_Checkpoint):
    pod_device_entries: list[_Entry] | None = None


class _PluginsFile(_Checkpoint):
    data: _Plugins


class _ClaimedDevice(_Checkpoint):
    device_name: str


class _Driver(_Checkpoint):
    devices: list[_ClaimedDevice] | None = None


class _Claim(_Checkpoint):
    pods: dict[str, Any] = field(name="PodUIDs", default_factory=dict)
    driver_state: dict[str, _Driver] = {}


class _Claims(_Checkpoint):
    # The Kubernetes release determines which of the names is used.
    entries: list[_Claim] | None = None
    claim_info_state_list: list[_Claim] | None = None


class _ClaimsFile(_Checkpoint):
    data: str


class KubeletCheckpoint:
    """The checkpoints of the kubelet whose files are below the root of *places*."""

    name = "the kubelet's checkpoint"

    def __init__(self, places: Places) -> None:
        self._places = places

    def read_allocations(self) -> Allocations:
        """
        Return the assignment of each pod that has a folder; a pod without a name has its ID.

        Raises:
            UnknownAssignmentsError: If there is no checkpoint, or it cannot be read.
        """
        try:
            found = _gather(self._content(PLUGINS_FILE), self._content(CLAIMS_FILE, _NO_CLAIMS))
        except ValueError as error:
            reason = "it does not have the form that this version reads"
            raise UnknownAssignmentsError(
                reason, "Let the emitter read the kubelet's socket"
            ) from error
        present = Presence(self._places.root).pods
        if found and present is None:
            reason = "its present pods are unknown, because no pod has a folder"
            raise UnknownAssignmentsError(reason, _CHECKPOINT_REMEDY)
        names = {uid: pod for uid, pod, _ in logged_pods(self._places.root)}
        allocations = [
            ids.allocation(names[uid])
            if uid in names
            else ids.allocation(PodName("", ""))._replace(name=f"pod:{uid}", team=None)
            for uid, ids in found.items()
            if uid in (present or ()) and ids.containers
        ]
        return mark_ended_pods(allocations, self._places)

    def _content(self, file: str, otherwise: bytes = b"") -> bytes:
        path = self._places.root / file
        try:
            return read_bytes(path, MAX_CHECKPOINT_BYTES)
        except FileNotFoundError:
            if otherwise:
                return otherwise
            reason = f"{path} does not exist"
            remedy = _CHECKPOINT_REMEDY
        except OSError as error:
            reason = f"{path} cannot be read: {error.strerror}"
            remedy = RUN_AS_ROOT if isinstance(error, PermissionError) else _CHECKPOINT_REMEDY
        raise UnknownAssignmentsError(reason, remedy)


def _gather(plugins: bytes, claims: bytes) -> Mapping[str, PodIds]:
    """
    Return the IDs by pod.

    Raises:
        ValueError: If a file is not a checkpoint.
    """
    found: defaultdict[str, PodIds] = defaultdict(PodIds)
    for entry in json.decode(plugins, type=_PluginsFile).data.pod_device_entries or ():
        ids = [*chain(*(entry.ids or {}).values())]
        files = _device_files(entry.alloc_resp) if entry.resource_name in DEVICES_RESOURCES else []
        if files and len(files) == len(ids):
            found[entry.pod].gather_devices(entry.container_name, files)
        else:
            found[entry.pod].gather_resource(entry.container_name, entry.resource_name, ids)
    text = json.decode(claims, type=_ClaimsFile).data
    data = json.decode(text, type=_Claims)
    for claim in chain(data.entries or (), data.claim_info_state_list or ()):
        devices = [
            device.device_name
            for device in claim.driver_state.get(DRA_DRIVER, _Driver()).devices or ()
        ]
        for pod in claim.pods:
            found[pod].gather_devices("", devices)
    return found


def _device_files(response: str | None) -> list[str]:
    """Return the device file names in a plugin's answer, ContainerAllocateResponse."""
    entries = repeat(0)
    answer = memoryview(base64.b64decode(response or ""))
    paths = [
        str(path, "utf-8")
        for number, device in fields(answer, entries)
        if number == 3
        for part, path in fields(device, entries)
        if part == 2
    ]
    return [
        path.removeprefix(_DEVICE_FOLDER)
        for path in paths
        if path.startswith(f"{_DEVICE_FOLDER}neuron")
    ]
