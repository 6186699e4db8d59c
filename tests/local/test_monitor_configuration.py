"""The simulator takes neuron-monitor's own configuration file, with its peculiarities."""

from __future__ import annotations

import pytest

from local.monitor.configuration import (
    ConfigurationError,
    parse_configuration,
    read_configuration,
)

RUNTIME_GROUPS = (
    "execution_stats", "memory_used", "neuron_runtime_vcpu_usage", "neuroncore_counters",
)  # fmt: skip
SYSTEM_GROUPS = ["memory_info", "neuron_hw_counters", "vcpu_usage"]


@pytest.mark.parametrize(
    ("document", "says"),
    [
        ([], "The configuration is not a JSON object but a list"),
        ({}, "names no group"),
        ({"system_metrics": {}}, "system_metrics is not a list but a dict"),
        ({"system_metrics": ["vcpu_usage"]}, "An entry of system_metrics is not"),
        ({"system_metrics": [{"type": "nc_counters"}]}, "type: 'nc_counters'"),
        ({"system_metrics": [{"type": "memory_used"}]}, "type: 'memory_used'"),
        ({"system_metrics": [{}]}, "type: 'None'"),
        ({"neuron_runtimes": [{"tag_filter": "("}]}, "tag_filter is not a regular"),
    ],
)
def test_what_cannot_be_meant_is_refused_in_one_sentence(document, says):
    """It says what was expected and what was found."""
    with pytest.raises(ConfigurationError) as refused:
        parse_configuration(document)
    assert says in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize(
    ("content", "says"),
    [(None, "No such file"), (b"", "is not JSON"), (b"\xff\xfe", "it is not UTF-8")],
)
def test_a_file_that_cannot_be_read_is_named(tmp_path, content, says):
    """Missing, empty or binary."""
    path = tmp_path / "monitor.json"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(ConfigurationError) as refused:
        read_configuration(path)
    assert str(path) in str(refused.value)
    assert says in str(refused.value)
