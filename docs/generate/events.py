"""One line of each event, made by the code that reports it."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from docs.generate.markdown import code, codes
from neuron_emitter.fold import Fold, FoldSettings, LineIdentity
from neuron_emitter.fold.group_errors import GroupErrors
from neuron_emitter.fold.readings import EccFold
from neuron_emitter.kernel.detector import Detection, LocatedFault, LogState, Position, read_faults
from neuron_emitter.kernel.faults import KernelFaults
from neuron_emitter.lines import LineWriter
from neuron_emitter.reports.child import End, ErrorTail
from neuron_emitter.reports.groups import Device, HardwareCounters
from neuron_emitter.reports.monitor import Monitor
from neuron_emitter.reports.report import decode
from neuron_emitter.reports.source import ended_event
from neuron_emitter.settings import MinuteSettings
from neuron_emitter.spool.spool_file import Notices
from neuron_wire.catalogue import EVENT_NAMES

EVENT_AT_S = 1_767_225_600.0
IDENTITY = LineIdentity(
    cluster="research",
    instance_id="i-0123456789abcdef0",
    identity_guessed=False,
    boot="0a1b2c3d4e5f60718293",
)
SENDER_MEMBERS = {"Timestamp", "Schema", "Kind", "Boot", "Seq", "ClusterName", "InstanceId"}
SHARED_MEMBERS = SENDER_MEMBERS | {"Event", "Message"}


FAULT_MESSAGE = (
    "NEURON_HW_ERR=HBM_UNCORRECTABLE_ERROR nd-id=3 nc-id=1 serial-num=0123456789abcdef "
    "action=TERMINATE_INSTANCE"
)


class EventClock:
    """A clock that tests advance."""

    def __init__(self):
        self.now_s = 1000.0

    def __call__(self):
        return self.now_s


def of_monitor(found):
    """
    Yield events of neuron-monitor that dies, hangs, cannot start, recovers; and of a pipe that
    ends.
    """
    clock = EventClock()
    monitor: Any = Monitor("true", "", 5.0, found.append, clock=clock, now_s=lambda: EVENT_AT_S)
    words = ErrorTail()
    words.add_output(b"failed to open /dev/neuron0\n")
    for chunk, error_tail in ((None, words), (b"", ErrorTail()), (b"{}", ErrorTail())):
        clock.now_s += 41.5
        monitor._child = SimpleNamespace(
            read_chunk=lambda _, chunk=chunk: chunk,
            stop=lambda *_: End(1, was_stopped=False),
            error_tail=error_tail,
        )
        monitor.read_chunk(0)
    monitor._child = None
    monitor._path = "/"
    monitor.read_chunk(0)
    monitor.close()
    found.append(ended_event("standard input", EVENT_AT_S))


def of_memory(found):
    """Yield events of a device with its first errors and a further one."""
    ecc = EccFold({})
    for errors in (1, 2):
        device = Device(neuron_device_index=3, mem_ecc_uncorrected=errors)
        ecc.add_counters(HardwareCounters(neuron_devices=[device]), EVENT_AT_S)
        found += ecc.events()
        ecc.clear()


def of_groups(found):
    """Yield events of a group and a runtime in error, and of their end."""
    errors = GroupErrors(found.append)
    runtime = {"pid": 4242, "error": "process 4242 has no report"}
    system = {"vcpu_usage": {"error": "open /proc/4242/stat: permission denied"}}
    for document in (
        {"neuron_runtime_data": [runtime], "system_data": system},
        {"neuron_runtime_data": [], "system_data": {}},
    ):
        report = decode(json.dumps(document).encode())
        errors.add_report(report, report.neuron_runtime_data, EVENT_AT_S)
        errors.end_minute(EVENT_AT_S + 60)


def of_reports(found):
    """Yield events of devices that are not visible, and of counters with a wrong type."""
    runtime = {"report": {"neuroncore_counters": 7}}
    hardware = {"neuron_device_count": 0}
    document = {"neuron_runtime_data": [runtime], "neuron_hardware_info": hardware}
    fold = Fold(FoldSettings(), on_event=found.append)
    fold.fold_report(decode(json.dumps(document).encode()), EVENT_AT_S)


def of_spool(found):
    """Yield events of a disk that is full and recovers, and of a damaged file."""
    clock = EventClock()
    notices = Notices(
        Path("/var/lib/neuron-emf"), 16 << 20, lambda: EVENT_AT_S, clock, found.append
    )
    notices.say_in_memory("No space left on device")
    notices.say_on_disk_again(42)
    notices.say_set_aside("spool.sqlite3.damaged-20260101T000000Z", "malformed", 3)


def of_kernel(found):
    """Yield events of a broken device, one that broke before the first start, and lost messages."""
    position = Position("0123456789abcdef0123456789abcdef", 7)
    detection = Detection(
        faults=[LocatedFault(read_faults(FAULT_MESSAGE, EVENT_AT_S)[0], position, has_event=False)],
        older=1,
        newest_older=read_faults(FAULT_MESSAGE, EVENT_AT_S - 7200)[0],
        lost=3,
        position=position,
    )
    watch: Any = SimpleNamespace(state=LogState(), take_detection=lambda: detection)
    found += KernelFaults(watch).take_events(EVENT_AT_S, is_end=True)


EVENT_MAKERS = (of_monitor, of_memory, of_kernel, of_groups, of_reports, of_spool)


def examples():
    """Return one event of each name, the first that its code reports."""
    found = []
    for make in EVENT_MAKERS:
        make(found)
    by_name = {}
    for event in found:
        by_name.setdefault(event.name, event)
    return by_name


def line_of(event):
    """Return the line of *event* as it is sent."""
    return LineWriter(MinuteSettings(metrics="none")).event_records([event], IDENTITY, 7)[0].line


def events_list():
    """Return each event with its meaning and its own members."""
    made = examples()
    items = []
    for name, meaning in EVENT_NAMES.items():
        members = json.loads(line_of(made[name])).keys() - SHARED_MEMBERS if name in made else set()
        end = f" ({codes(sorted(members))})" if members else ""
        items.append(f"- {code(name)}: {meaning}{end}\n")
    return "".join(items)
