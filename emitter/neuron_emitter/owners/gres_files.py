"""
The Neuron devices behind each index of a Slurm generic resource, from gres.conf.

Slurm counts the files of a resource in the order in which gres.conf lists them, so an index is not
the number of a device. With `AutoDetect=nrt` the order is that of the device numbers. The
order is uncertain, and only the number of a job's devices is known, in these cases: no gres.conf,
two different ones, several types of one resource, files of other devices, or lines with node names
that are all different from this host's name. From https://slurm.schedmd.com/gres.conf.html
"""

from __future__ import annotations

import os
import re
from collections import Counter
from re import IGNORECASE
from typing import TYPE_CHECKING, Final, NamedTuple

from neuron_emitter.instance.machine import read_text
from neuron_emitter.owners.membership import list_folder
from neuron_emitter.owners.scontrol import CONFIGURATION_VARIABLE, index_list, names_node

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

GRES_FILES: Final = ("etc/slurm/gres.conf", "opt/slurm/etc/gres.conf", "run/slurm/conf/gres.conf")
CORES_GRES: Final = "neuroncore"
_DETECTED: Final = "gpu"  # the resource that AutoDetect fills
_MAX_INCLUDE_DEPTH: Final = 8  # levels of included files
_DEVICES_PREFIX: Final = "/dev/neuron"
_DEVICE_FILE: Final = re.compile(r"neuron([0-9]{1,4})")
_GRES_CONF_MEMBER: Final = re.compile(r"([A-Za-z]+)=(\S+)")
_INCLUDE: Final = re.compile(r"\s*include\s+(\S+)\s*", IGNORECASE)
_FILES: Final = re.compile(r"/dev/neuron(?:([0-9]{1,4})|\[([0-9,-]+)\])")

Units = dict[str, list[frozenset[int]]]
"""The numbers behind each index, by resource; empty if the order of its files is uncertain."""


class GresFiles(NamedTuple):
    """
    The numbers behind the indexes of resources.

    Attributes:
        devices: Device numbers by resource.

        cores: Core numbers by resource; `neuroncore` if each device is listed once per core.
    """

    devices: Units
    cores: Units


def device_numbers(root: Path) -> list[int]:
    """Return the numbers of the device files of the machine at *root*, in order."""
    names = map(_DEVICE_FILE.fullmatch, list_folder(root / "dev") or ())
    return sorted(int(name[1]) for name in names if name)


def read_gres_files(root: Path, node: str) -> GresFiles:
    """Return the resources of Neuron device files on the host *node*."""
    paths = [root / file for file in GRES_FILES]
    if configuration := os.environ.get(CONFIGURATION_VARIABLE):
        paths = [(root / configuration.lstrip("/")).with_name("gres.conf")]
    listings = {tuple(_lines(path, root)) for path in paths if read_text(path) is not None}
    if len(listings) != 1:
        return GresFiles({}, {})
    devices = _devices([dict(line) for line in listings.pop()], node, device_numbers(root))
    repeats = Counter(devices.get(CORES_GRES, ()))
    cores_per_device = max(repeats.values(), default=1)
    if cores_per_device == 1:
        return GresFiles(devices, {})
    seen: Counter[int] = Counter()
    cores = []
    for unit in devices.pop(CORES_GRES):
        cores.append(frozenset(device * cores_per_device + seen[device] for device in unit))
        seen.update(unit)
    return GresFiles(devices, {CORES_GRES: cores})


def _lines(path: Path, root: Path, depth: int = 0) -> Iterator[tuple[tuple[str, str], ...]]:
    """Yield the members of each line of the file at *path*, with included files in place."""
    text = (read_text(path) or "").replace("\\\n", " ")
    for line in text.splitlines():
        content = line.partition("#")[0]
        include = _INCLUDE.fullmatch(content)
        if include is None:
            members = _GRES_CONF_MEMBER.findall(content)
            yield tuple((name.lower(), value) for name, value in members)
        elif depth < _MAX_INCLUDE_DEPTH:
            included = include[1]
            folder = root if included.startswith("/") else path.parent
            yield from _lines(folder / included.lstrip("/"), root, depth + 1)


def _devices(lines: Sequence[Mapping[str, str]], node: str, detected: Sequence[int]) -> Units:
    names = (node, node.partition(".")[0])
    own = [
        line
        for line in lines
        if "nodename" not in line or any(names_node(line["nodename"], name) for name in names)
    ]
    units = {}
    for resource in {line["name"] for line in lines if "name" in line}:
        all_lines = [line for line in lines if line.get("name") == resource]
        theirs = [line for line in own if line.get("name") == resource]
        listed = [_line_units(line) for line in theirs]
        if not any(_DEVICES_PREFIX in str(line) for line in all_lines):
            continue
        is_sure = (
            None not in listed
            and len({line.get("type") for line in theirs}) <= 1
            and (theirs == all_lines or any("nodename" in line for line in theirs))
        )
        units[resource] = [unit for line in listed for unit in line or ()] if is_sure else []
    detectors = {line["autodetect"].lower() for line in own if "autodetect" in line} - {"off"}
    if detectors:
        natural = [frozenset({device}) for device in detected]
        is_natural = detectors == {"nrt"} and units.get(_DETECTED, natural) == natural
        units[_DETECTED] = natural if is_natural else []
    return units


def _line_units(line: Mapping[str, str]) -> list[frozenset[int]] | None:
    """Return the devices behind each index of *line*; None if they cannot be counted."""
    devices = []
    files = line.get("multiplefiles") or line.get("file") or ""
    for part in re.split(r",(?![^\[]*\])", files):
        found = _FILES.fullmatch(part)
        if found is None:
            return None
        devices += index_list(found[1] or found[2])
    if "multiplefiles" in line:
        return [frozenset(devices)]
    is_counted = line.get("count", str(len(devices))) == str(len(devices))
    return [frozenset({device}) for device in devices] if is_counted else None
