"""Who wrote a line, of what, and when."""

from __future__ import annotations

from typing import Final

from neuron_wire.catalogue.member import EMITTED, Member
from neuron_wire.names import MESSAGE, MINUTE, MORE, PROFILE, REPORT, ROLLUP

_INFO: Final = "instance_info"
_HARDWARE: Final = "neuron_hardware_info"
_LAST: Final = "last report that named it"
_LAST_TOLD: Final = "last answer that named it"
_ONCE: Final = "once per line"
_WHERE_ROOM: Final = (MINUTE, MORE)

IDENTITY: Final = (
    Member("Schema", "", "label", "emitter", _ONCE,
           "Version of the contract; a reader refuses a higher one than it knows.",
           (*EMITTED, ROLLUP, PROFILE, MESSAGE)),
    Member("Kind", "", "label", "emitter", _ONCE,
           "What the line is: minute, more, core, runtime, event, report, raw, rollup, profile "
           "or message.",
           (*EMITTED, ROLLUP, PROFILE, MESSAGE)),
    Member("Timestamp", "", "label", "emitter",
           "start of the minute; of an event, a report, a raw report or a message, its moment",
           "Milliseconds since 1970, in lines that define no metric; the others have it in _aws.",
           (*EMITTED, PROFILE, MESSAGE)),
    Member("Boot", "", "label", "emitter", "once per start of the emitter",
           "One run of the emitter; a greater one started later.", EMITTED),
    Member("Seq", "", "label", "emitter", _ONCE,
           "Number of the line within its Boot, from 1 without gaps: with InstanceId and Boot it "
           "identifies the line for ever.", EMITTED),
    Member("ClusterName", "", "label", "--cluster, else ECS, EKS or instance tags", _ONCE,
           "The cluster of the instance, the key of all rollups; of a message, that of the alarm.",
           (*EMITTED, ROLLUP, PROFILE, MESSAGE)),
    Member("InstanceId", "", "label", f"{_INFO}.instance_id, else instance metadata, --instance-id",
           _LAST, "The instance; never empty.", EMITTED),
    Member("IdentityGuessed", "", "label", "emitter", _ONCE,
           "True while the instance's id is unknown: InstanceId is generated, and stable.", EMITTED,
           is_rare=True),
    Member("InstanceType", "", "label", f"{_INFO}.instance_type, else instance metadata", _LAST,
           "EC2 instance type; the rollups take prices from it."),
    Member("Region", "", "label", f"{_INFO}.instance_region, else instance metadata", _LAST,
           "AWS region of the instance."),
    Member("AvailabilityZone", "", "label",
           f"{_INFO}.instance_availability_zone, else instance metadata", _LAST,
           "Availability zone of the instance."),
    Member("UltraServerId", "", "label", f"{_INFO}.ultraserver_id", _LAST,
           "The UltraServer that the instance is part of."),
    Member("AccountId", "", "label", "instance metadata: instance identity document", _LAST_TOLD,
           "The AWS account of the instance, 12 digits.", is_rare=True),
    Member("Lifecycle", "", "label", "instance metadata: instance-life-cycle", _LAST_TOLD,
           "The purchasing option as EC2 names it, such as on-demand or spot.",
           is_rare=True),
    Member("Paid", "", "label", "--paid", _ONCE,
           "How the instance is paid, where its operator says it: sunk (a stop saves nothing) or "
           "avoidable.", is_rare=True),
    Member("InstanceName", "", "label", f"{_INFO}.instance_name", _LAST,
           "The instance's tag Name, where neuron-monitor may read it.", _WHERE_ROOM),
    Member("NeuronDeviceVersion", "", "label", f"{_HARDWARE}.neuron_device_version", _LAST,
           "Version of the Neuron devices, such as v2.", _WHERE_ROOM),
    Member("NeuronCoreVersion", "", "label", f"{_HARDWARE}.neuroncore_version", _LAST,
           "Version of the cores, such as v3; v3d where two are one logical core.",
           _WHERE_ROOM),
    Member("LogicalNeuronCoreConfig", "", "label", f"{_HARDWARE}.logical_neuroncore_config", _LAST,
           "Physical cores behind a logical one.", _WHERE_ROOM),
    Member("Bye", "", "label", "emitter", _ONCE,
           "True in the last minute of a planned stop: silence after it is no alarm.",
           is_rare=True),
    Member("instance_id", "", "label", "as InstanceId", _ONCE,
           "Dimension of neuron-monitor-cloudwatch.py, with --common-dims instance_id.",
           (MINUTE, MORE, REPORT), is_rare=True),
    Member("instance_type", "", "label", "as InstanceType", _ONCE,
           "Dimension of neuron-monitor-cloudwatch.py, with --common-dims instance_type.",
           (MINUTE, MORE, REPORT), is_rare=True),
    Member("ami_id", "", "label", f"{_INFO}.ami_id, else instance metadata", _LAST,
           "Dimension of neuron-monitor-cloudwatch.py, with --common-dims ami_id.",
           (MINUTE, MORE, REPORT), is_rare=True),
)  # fmt: skip
