"""What an event line says, and which events there are."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import Family, Member
from neuron_wire.names import EVENT

EVENT_NAMES: Final = {
    "MonitorDied": "neuron-monitor exited or closed its output, and is restarted.",
    "MonitorStalled": "neuron-monitor wrote nothing for too long, and is stopped and restarted.",
    "MonitorNotStarted": "neuron-monitor could not be started; the start is retried.",
    "MonitorRestarted": "neuron-monitor reports again after failures.",
    "InputEnded": "The pipe or socket that reports came from ended; the emitter exits with code 3.",
    "EccFirstSeen": "A device had uncorrectable memory errors when its counters were first read.",
    "EccRise": "A memory error counter is above 0 and changed since the previous report; the "
    "worst of the minute is named.",
    "HardwareFault": "The kernel log reports a hardware fault; one event for each of the first ten "
    "of a minute, one for the rest.",
    "HardwareFaultsFound": "Faults were in the kernel log before the emitter first read it; they "
    "are not counted.",
    "KernelMessagesLost": "Kernel messages were overwritten before they were read; they may "
    "include faults.",
    "GroupError": "A group of the reports has an error; repeated hourly while it lasts.",
    "GroupErrorCleared": "A group no longer has an error.",
    "RuntimeError": "An entry of a runtime has an error; repeated hourly while it lasts.",
    "RuntimeErrorCleared": "No entry of a runtime has that error any more.",
    "SpoolInMemory": "The spool directory cannot be written: lines are kept in memory only.",
    "SpoolOnDiskAgain": "The spool directory is writable again.",
    "SpoolSetAside": "A damaged spool file was moved aside and a new one created.",
}
"""What may stand in the member Event, and what it means."""


_FAULT: Final = "NEURON_HW_ERR= of the kernel log"


def _detail(name: str, unit: str, family: Family, source: str, meaning: str) -> Member:
    return Member(name, unit, family, source, "of this event", meaning, (EVENT,), is_rare=True)


EVENTS: Final = (
    Member("Event", "", "label", "emitter", "once per line",
           "What happened, one of the names above.", (EVENT,)),
    Member("Message", "", "label", "emitter", "once per line",
           "The same as a sentence.", (EVENT,)),
    _detail(
        "Count", "Count", "tally", "emitter",
        "Occurrences since the last such event, when more than one; faults or messages that the "
        "line stands for.",
    ),
    _detail("RanSeconds", "Seconds", "gauge", "emitter", "How long neuron-monitor had run."),
    _detail("SilentSeconds", "Seconds", "gauge", "emitter",
            "How long neuron-monitor had written nothing."),
    _detail("DownSeconds", "Seconds", "gauge", "emitter",
            "How long there were no reports."),
    _detail("Failures", "Count", "gauge", "emitter", "Consecutive failures before that."),
    _detail("ExitCode", "", "label", "exit of neuron-monitor", "Its exit code."),
    _detail("Signal", "", "label", "exit of neuron-monitor", "The signal that ended it."),
    _detail("Stderr", "", "label", "standard error of neuron-monitor", "Its last output."),
    _detail("Reason", "", "label", "operating system", "Why neuron-monitor could not be started."),
    _detail("Device", "", "label",
            "system_data.neuron_hw_counters.neuron_devices[].neuron_device_index",
            "Index of the device with the worst counter, or the nd-id of the fault."),
    _detail("Counter", "", "label", "system_data.neuron_hw_counters.neuron_devices[]",
            "That counter as neuron-monitor names it, such as mem_ecc_uncorrected."),
    _detail("Rise", "Count", "tally", "system_data.neuron_hw_counters.neuron_devices[]",
            "Increase of that counter in the minute."),
    _detail("Value", "Count", "gauge", "system_data.neuron_hw_counters.neuron_devices[]",
            "Current value of that counter."),
    _detail("Counters", "Count", "gauge", "system_data.neuron_hw_counters.neuron_devices[]",
            "Counters that rose, or were first seen above 0, that one included."),
    _detail("Fault", "", "label", _FAULT, "Its code, such as HBM_UNCORRECTABLE_ERROR."),
    _detail("DeviceCore", "", "label", _FAULT,
            "Its nc-id: the physical core on that device, counted from 0."),
    _detail("SerialNumber", "", "label", _FAULT, "Its serial-num, that of the device."),
    _detail("Action", "", "label", _FAULT, "Recommended action, such as TERMINATE_INSTANCE."),
    _detail("KernelMessage", "", "label", _FAULT, "The message, shortened."),
    _detail("Group", "", "label", "the group's place in the report",
            "The group in error, or runtime for the entry of a runtime as a whole."),
    _detail("Error", "", "label", "the group's error", "Its text, shortened."),
    _detail("File", "", "label", "emitter", "New name of the damaged spool file."),
    _detail("RecordsLost", "Count", "tally", "emitter", "Undelivered lines lost with it."),
    _detail("Records", "Count", "gauge", "emitter", "Lines written to disk."),
)  # fmt: skip
