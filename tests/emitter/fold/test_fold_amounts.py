"""How large a number can be, and how exact a line says it."""

from __future__ import annotations

import pytest
from neuron_reports import counters, executions, minute_of, report, runtime

from emitter.fold.amounts import amount


@pytest.mark.parametrize(("told", "expected"), [
    (None, None), (-1, None), (0, 0), (2.0, 2), (1 << 50, 1 << 50), ((1 << 50) + 1, None),
    (float("inf"), None), (float("nan"), None),
])  # fmt: skip
def test_an_amount_is_from_0_to_a_pebibyte(told, expected):
    """What cannot be is missing, and never a number."""
    assert expected == amount(told)


def test_seconds_have_nine_decimals():
    """Nanoseconds: what is behind them no monitor measures."""
    latency = {"p50": 0.12345678949, "p99": 0.12345678951}
    record = minute_of(report(runtime(execution_stats=executions(1, total=latency))))
    assert (0.123456789, 0.12345679) == (record.latency_p50_mean_s, record.latency_p99_max_s)


def test_tera_flops_have_four_decimals():
    """A tenth of a GFLOP/s."""
    group = counters([50, 0, 0, 0], flops=dict.fromkeys(range(4), 1.2345678e12 / 4))
    assert 1.2346 == minute_of(report(runtime(group))).tera_flops
