"""What an event line says, and which events there are."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import Family, Member
from neuron_wire.names import EVENT

EVENT_NAMES: Final = {
    "MonitorDied": "neuron-monitor ended or closed its output; it is started again.",
    "MonitorStalled": "neuron-monitor wrote nothing for too long and was stopped; it is started "
    "again.",
    "MonitorNotStarted": "The system refused to start neuron-monitor; it is tried again.",
    "MonitorRestarted": "neuron-monitor reports again after failures.",
    "InputEnded": "A pipe or socket that reports came from ended; the emitter ends with exit code "
    "3.",
    "EccFirstSeen": "A device was first seen with uncorrectable memory errors.",
    "EccRise": "A counter of memory errors is above 0 and not what it was in the report "
    "before; the worst of the minute is named.",
    "HardwareFault": "The kernel log tells of broken hardware; the first ten of a minute each, the "
    "rest of the minute together.",
    "HardwareFaultsFound": "Faults were in the kernel log from before the emitter first read it; "
    "they are not counted.",
    "KernelMessagesLost": "Kernel messages were overwritten before they were read; faults may have "
    "been among them.",
    "GroupError": "A group of the reports is in error; again each hour as long as it is.",
    "GroupErrorCleared": "A group is no longer in error.",
    "RuntimeError": "An entry of a runtime is in error; again each hour as long as it is.",
    "RuntimeErrorCleared": "No entry of a runtime is in that error any more.",
    "SpoolInMemory": "The disk refuses: lines are kept in memory only.",
    "SpoolOnDiskAgain": "The disk takes lines again.",
    "SpoolSetAside": "A damaged spool file was set aside and a new one begun.",
}
"""What may stand in the member Event, and what it means."""


_FAULT: Final = "NEURON_HW_ERR= of the kernel log"


def _detail(name: str, unit: str, family: Family, source: str, meaning: str) -> Member:
    return Member(name, unit, family, source, "of this event", meaning, (EVENT,), is_rare=True)


EVENTS: Final = (
    Member("Event", "", "label", "emitter", "once per line",
           "What happened, one of the names above.", (EVENT,)),
    Member("Message", "", "label", "emitter", "once per line",
           "The same in one sentence for a person.", (EVENT,)),
    _detail(
        "Count", "Count", "tally", "emitter",
        "How often it happened since this was last said, when more than once; faults or messages "
        "that the line stands for.",
    ),
    _detail("RanSeconds", "Seconds", "gauge", "emitter", "How long neuron-monitor had run."),
    _detail("SilentSeconds", "Seconds", "gauge", "emitter",
            "How long neuron-monitor had said nothing."),
    _detail("DownSeconds", "Seconds", "gauge", "emitter",
            "How long neuron-monitor gave no report before it did again."),
    _detail("Failures", "Count", "gauge", "emitter", "Failures in a row before that."),
    _detail("ExitCode", "", "label", "exit of neuron-monitor", "Its exit code."),
    _detail("Signal", "", "label", "exit of neuron-monitor", "The signal that ended it."),
    _detail("Stderr", "", "label", "standard error of neuron-monitor", "The last it said."),
    _detail("Reason", "", "label", "operating system", "Why neuron-monitor could not be started."),
    _detail("Device", "", "label",
            "system_data.neuron_hw_counters.neuron_devices[].neuron_device_index",
            "Index of the device with the worst counter, or the nd-id of the fault."),
    _detail("Counter", "", "label", "system_data.neuron_hw_counters.neuron_devices[]",
            "That counter as neuron-monitor names it, such as mem_ecc_uncorrected."),
    _detail("Rise", "Count", "tally", "system_data.neuron_hw_counters.neuron_devices[]",
            "By how much that counter rose in the minute."),
    _detail("Value", "Count", "gauge", "system_data.neuron_hw_counters.neuron_devices[]",
            "What that counter says now."),
    _detail("Counters", "Count", "gauge", "system_data.neuron_hw_counters.neuron_devices[]",
            "Counters that rose, or were first seen above 0, that one included."),
    _detail("Fault", "", "label", _FAULT, "Its code, such as HBM_UNCORRECTABLE_ERROR."),
    _detail("DeviceCore", "", "label", _FAULT,
            "Its nc-id: the physical core on that device, counted from 0."),
    _detail("SerialNumber", "", "label", _FAULT, "Its serial-num, that of the device."),
    _detail("Action", "", "label", _FAULT, "What it advises, such as TERMINATE_INSTANCE."),
    _detail("KernelMessage", "", "label", _FAULT, "The message, shortened."),
    _detail("Group", "", "label", "the group's place in the report",
            "The group in error, or runtime for the entry of a runtime as a whole."),
    _detail("Error", "", "label", "the group's error", "What it said, shortened."),
    _detail("File", "", "label", "emitter", "The damaged spool file, where it was set aside."),
    _detail("RecordsLost", "Count", "tally", "emitter", "Waiting lines that were lost with it."),
    _detail("Records", "Count", "gauge", "emitter", "Lines that the disk has taken now."),
)  # fmt: skip
