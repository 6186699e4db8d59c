"""Rules: physical cores, flops. On Trainium2 a core is two cores, and the member has two names."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from proof.factories.groups import core_counters, memory_used, runtime
from proof.factories.reports import (
    Reading,
    inf1_busy,
    inf2_loaded,
    minute_of,
    trn1_job,
    trn2_logical,
)


@pytest.mark.parametrize("split", ["v3d", "v4d", "physical"])
def test_a_nested_split_is_kept_as_detail_whatever_its_key_is_called(split):
    """
    Under logical cores an entry may nest a split (`v3d` today) whose children carry
    `neuroncore_utilization`: keep it as detail, whatever the key is called.
    """
    reading = Reading(period_s=1.0)
    reading.minute(trn2_logical(split))
    (found,) = reading.fold.runtimes
    assert {"nc_v3.0": 20.0, "nc_v3.1": 62.0, "nc_v3.2": 21.0, "nc_v3.3": 63.0} == (
        found.physical_percent
    )


@pytest.mark.parametrize("split", ["v3d", "v4d"])
def test_the_split_is_not_a_core(split):
    """The cores are the logical ones: two busy of 64, at the logical utilization."""
    record = minute_of(trn2_logical(split), period_s=1.0)
    assert "bb" + "u" * 62 == record.core_state.replace("?", "u")
    assert (41.0, 42.0) == record.utilization_percent[:2]


def with_rates(**rates):
    """The inf2 report whose first core tells these rates."""
    document = inf2_loaded()
    uses = document["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["neuroncores_in_use"]
    for use in uses.values():
        del use["effective_flops"]
    uses["0"].update(rates)
    uses["1"].update(dict.fromkeys(rates, 0))
    return document


@pytest.mark.parametrize(
    ("rates", "tera_flops"),
    [
        ({"effective_flops": 3e12}, 3.0),
        ({"flops": 2e12}, 2.0),
        ({"effective_flops": 3e12, "flops": 2e12}, 3.0),
        ({"effective_flops": 0, "flops": 2e12}, 0.0),
        ({"effective_flops": None, "flops": 2e12}, 2.0),
        ({}, None),
    ],
)
def test_effective_flops_if_present_else_flops(rates, tera_flops):
    """
    `effective_flops` if present (0 counts), else `flops`: FLOP/s; absent if no report had either.
    """
    assert tera_flops == minute_of(with_rates(**rates)).tera_flops


def test_an_old_capture_has_neither():
    """inf1 in 2022: absent, not 0."""
    assert minute_of(inf1_busy()).tera_flops is None


def test_sum_over_the_runtimes_of_a_core():
    """Sum over the runtimes of a core, and over the cores."""
    document = inf2_loaded(flops=1e12)
    document["neuron_runtime_data"].append(
        runtime(
            9,
            "9",
            neuroncore_counters=core_counters([3.0, 7.0], 5.0, effective_flops=[5e11, 25e10]),
            memory_used=memory_used(cores=2),
        )
    )
    assert 1.75 == minute_of(document).tera_flops
    assert 32 * 1.9 == pytest.approx(minute_of(trn1_job([50.0] * 32)).tera_flops)


@given(st.lists(st.tuples(st.floats(0.5, 10), st.integers(0, 10**14)), min_size=1, max_size=4))
def test_weighted_like_utilization(reports):
    """Weighted like utilization: by the length of each report."""
    documents = []
    for period, flops in reports:
        document = inf2_loaded(flops=flops)
        document["neuron_runtime_data"][0]["report"]["neuroncore_counters"]["period"] = period
        documents.append(document)
    expected = sum(w * f for w, f in reports) / sum(w for w, _ in reports) / 1e12
    assert pytest.approx(expected, abs=1e-4) == minute_of(*documents).tera_flops
