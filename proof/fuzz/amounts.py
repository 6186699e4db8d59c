"""Numbers that others left: the pulse of a running emitter, and the system groups of reports."""

from __future__ import annotations

import json
import math
import tempfile
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Final
from unittest import mock

import msgspec

from emitter.fold import readings
from emitter.fold.amounts import MAX_AMOUNT
from emitter.fold.readings import Readings
from emitter.health.pulse import PULSE_BYTES, PULSE_NAME, Pulse, PulseFile, read_pulse
from emitter.reports.system_groups import System
from neuron_emf.check import quick
from neuron_wire.catalogue import READINGS as ENTRIES
from proof.fuzz import broken_json
from proof.fuzz.target import Target, reworded

if TYPE_CHECKING:
    import random

_FOLDER: Final = tempfile.TemporaryDirectory(prefix="neuron-emf-fuzz-")
_DIRECTORY: Final = Path(_FOLDER.name)
_NOW_S: Final = 5000.0
_decode: Final = msgspec.json.Decoder(list[System | None]).decode


def reads_a_pulse(content: bytes) -> None:
    """
    It is none, or times and counts that a health check can say something about; written again it
    is the same.
    """
    (_DIRECTORY / PULSE_NAME).write_bytes(content)
    pulse = read_pulse(_DIRECTORY)
    if pulse is None:
        return
    for value in asdict(pulse).values():
        assert value is None or math.isfinite(value)
    of_now = [find(pulse, _NOW_S) for find in (quick._loop, quick._reports, quick._delivery)]
    for finding in (*of_now, quick._disk(pulse)):
        assert len(finding.found) < 200
        assert finding.found.isprintable()
    (_DIRECTORY / PULSE_NAME).unlink()
    PulseFile(_DIRECTORY, clock=lambda: _NOW_S)._write(pulse)
    assert PULSE_BYTES == (_DIRECTORY / PULSE_NAME).stat().st_size
    assert pulse == read_pulse(_DIRECTORY)


def folds_system_groups(content: bytes) -> None:
    """What the reports of a minute tell is in bounds, and the same however they are gathered."""
    try:
        systems = [one for one in _decode(content) if one is not None]
    except (ValueError, RecursionError):
        return  # the fold leaves such a group out
    together, told_each_time = Readings(), Readings()
    for system in systems:
        together.add(system)
        told_each_time.add(system)
        told_each_time.told()
        assert max(len(together._memory), len(together._vcpu)) < readings.MAX_WAITING
    with mock.patch.object(readings, "MAX_WAITING", 1):
        single = Readings()
        for system in systems:
            single.add(system)
    told = together.told()
    assert told == together.told() == told_each_time.told() == single.told()
    for member, value in told.items():
        most = 100 if ENTRIES[member].unit == "Percent" else MAX_AMOUNT
        assert 0 <= value <= most
    json.dumps(told, allow_nan=False)


def _changed_pulse(content: bytes, chance: random.Random) -> bytes:
    """One member changed; the padding stays."""
    if chance.random() < 0.3:
        return reworded(content, chance)
    return broken_json.broken(content, chance).rstrip(b"\n").ljust(PULSE_BYTES - 1) + b"\n"


def _pulses() -> list[bytes]:
    texts = []
    for pulse in (
        Pulse(4711, 10.0, 4990.0, 4980.5, 3, 4900.0, 0),
        Pulse(1, 4990.0, 4990.0, None, 0, None, 0),
        Pulse(1, 10.0, 1e4, 20.0, 3, 10.0, 5),
    ):
        text = json.dumps(asdict(pulse), separators=(",", ":")).encode()
        texts.append(text.ljust(PULSE_BYTES - 1) + b"\n")
    return texts


def _systems() -> list[bytes]:
    shares = {"user": 12.5, "nice": 0, "system": 3.25, "idle": 80, "irq": 0.1, "soft_irq": 0.2}
    devices = [{"neuron_device_index": 0, "mem_ecc_corrected": 3}]
    system = {
        "memory_info": {"period": 5.0, "memory_total_bytes": 1 << 35, "memory_used_bytes": 1 << 30},
        "vcpu_usage": {"period": 5.0, "error": "", "average_usage": shares},
        "neuron_hw_counters": {"period": 5.0, "neuron_devices": devices},
    }
    return [json.dumps([system] * count).encode() for count in (1, 13)]


PULSES: Final = Target("pulse file", reads_a_pulse, _pulses, _changed_pulse)
SYSTEMS: Final = Target("system groups", folds_system_groups, _systems, broken_json.broken)
