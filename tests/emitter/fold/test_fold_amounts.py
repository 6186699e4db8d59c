"""How large a number can be, and how exact a line says it."""

from __future__ import annotations

import json

import pytest
from neuron_reports import START_S, add, closed, counters, executions, new_fold, report, runtime

from emitter.fold.samples import amount
from emitter.lines import LineIdentity, LineSettings, LineWriter

SENDER = LineIdentity("blue", "i-1", identity_guessed=False, boot="1")


@pytest.mark.parametrize(("told", "expected"), [
    (None, None), (-1, None), (0, 0), (2.0, 2), (1 << 50, 1 << 50), ((1 << 50) + 1, None),
    (float("inf"), None), (float("nan"), None),
])  # fmt: skip
def test_an_amount_is_from_0_to_a_pebibyte(told, expected):
    """What cannot be is missing, and never a number."""
    assert expected == amount(told)


@pytest.mark.parametrize("scale", [1e-13, 40e6 / 1.23456789e12, 1.0])
def test_an_amount_has_six_digits_of_its_own(scale):
    """
    Rounded once, by its line: 40 MFLOP/s is not 0 TFLOP/s, and a latency has no last decimal.

    In the lines of the minute, of the runtime and of the report alike.
    """
    rate, seconds = 1.23456789e12 * scale, 1.23456789 * scale
    fold = new_fold(runtime_lines="all", every_report=True)
    groups = counters([50, 0, 0, 0], flops={0: rate}), None, executions(1, total={"p50": seconds})
    add(fold, report(runtime(*groups)), START_S)
    sample, record, lines = fold.sample, closed(fold), LineWriter(LineSettings(tier="none"))
    written = [
        *[one.line for one in lines.minute_records(record, fold.due_runtimes)],
        *[one.line for one in lines.report_records(sample, SENDER, 3)],
    ]
    flops, *latencies = [float(f"{value:.6g}") for value in (rate / 1e12, seconds, seconds)]
    assert [flops] * 3 == [json.loads(line)["TeraFlops"] for line in written]
    assert latencies == [json.loads(line)["LatencyP50Mean"] for line in written[:2]]
