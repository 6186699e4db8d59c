"""The longest minute record: a month of uptime, a trn2.48xlarge, a long name."""

from __future__ import annotations

from typing import Any

from neuron_wire.catalogue import READING_MEMBERS

_LONGEST_BY_UNIT = {
    "Bytes": 2_199_023_255_552,
    "Count": 12_345,
    "Percent": 99.99,
    "Seconds": 0.123456789,
    "None": 12_345.6789,
}

LONGEST_RECORD: dict[str, Any] = {
    "boot": "01a1fd4e75ef2470b16e",
    "cluster": "llm-pretraining-production-blue1",
    "instance_id": "i-0123456789abcdef0",
    "seq": 44_640,
    "covered_seconds": 59.99,
    "reports": 60,
    "is_clean_shutdown": True,
    "instance_type": "trn2u.48xlarge",
    "region": "ap-southeast-2",
    "availability_zone": "ap-southeast-2a",
    "ultraserver_id": "us-0123456789abcdef0",
    "account_id": "123456789012",
    "lifecycle": "on-demand",
    "executions": 123_456_789,
    "execution_errors": 12_345_678,
    "latency_p50_mean_s": 0.012345678,
    "latency_p99_max_s": 0.123456789,
    "device_latency_p50_mean_s": 0.012345678,
    "device_latency_p99_max_s": 0.112345678,
    "latency_gap_s": 0.001234567,
    "tera_flops": 12_345.6789,
    "device_memory_used_bytes": 1_649_267_441_664,
    "device_memory_total_bytes": 1_649_267_441_664,
    "runtime_host_memory_bytes": 2_199_023_255_552,
    "ecc_corrected": 1_234_567,
    "readings": {name: _LONGEST_BY_UNIT[reading.unit] for name, reading in READING_MEMBERS.items()},
}

LABELS: dict[str, str | int] = {
    "InstanceName": "llm-pretraining-worker-7",
    "NeuronDeviceVersion": "v4",
    "NeuronCoreVersion": "v3d",
    "LogicalNeuronCoreConfig": 2,
}
