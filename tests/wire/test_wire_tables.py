"""The tables of the contract agree with themselves and with the text they came from."""

from __future__ import annotations

import pytest

from neuron_wire.catalogue import MINUTE
from neuron_wire.instance_types import INSTANCE_TYPES
from neuron_wire.prices import USD_PER_HOUR


def test_the_minute_line_has_the_eight_metrics_of_a_cluster():
    """Cardinality is the bill: not one more by default."""
    expected = (
        "NeuronCores BusyCores AttachedIdleCores UnattachedCores UnknownCores ExecutionErrors"
        " EccUncorrectedRise NeuronCoreUtilization"
    )
    assert expected.split() == list(MINUTE)


@pytest.mark.parametrize(
    ("name", "cores", "gib"),
    [
        ("inf1.xlarge", 4, 8), ("inf1.24xlarge", 64, 128), ("inf2.xlarge", 2, 32),
        ("inf2.48xlarge", 24, 384), ("trn1.2xlarge", 2, 32), ("trn1.32xlarge", 32, 512),
        ("trn1n.32xlarge", 32, 512), ("trn2.3xlarge", 4, 96), ("trn2.48xlarge", 64, 1536),
        ("trn3.48xlarge", 64, 2304), ("trn3p.48xlarge", 64, 2304), ("trn3n.48xlarge", 64, 2304),
        ("trn3e.24xlarge", 16, 576), ("trn3en.24xlarge", 16, 576), ("trn3pd98.3xlarge", 4, 144),
        ("trn3s-es.3xlarge", 4, 144), ("trn3s-es.48xlarge", 64, 2304),
        ("trn3sn.3xlarge", 4, 144), ("trn3sn.48xlarge", 64, 2304),
        ("trn3sn-es.3xlarge", 4, 144), ("trn3sn-es.48xlarge", 64, 2304),
    ],
)  # fmt: skip
def test_an_instance_type_has_the_cores_and_memory_of_its_page(name, cores, gib):
    """Logical cores at the default size of a logical core; GiB are 2^30 bytes."""
    found = INSTANCE_TYPES[name]
    assert cores == found.cores
    assert gib * 2**30 == found.device_memory_bytes


def test_no_price_is_free():
    """An unknown price is None, never 0: its cores are unpriced, not free."""
    for by_type in USD_PER_HOUR.values():
        assert all(usd_per_hour > 0 for usd_per_hour in by_type.values())
        assert by_type.keys() <= INSTANCE_TYPES.keys()
    assert all(name == one.name for name, one in INSTANCE_TYPES.items())
