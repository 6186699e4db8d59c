"""Reports of the simulated neuron-monitor, and what one reads in them."""

from __future__ import annotations

import json

from local.monitor.instance import SimulatedInstance
from local.monitor.report import ReportWriter
from tests.local.report_shape import ECC, ENDINGS


def play(instance_type="inf2.xlarge", scenario="busy", seed=1, reports=12):
    """The first *reports* lines, 5 s apart."""
    writer = ReportWriter(SimulatedInstance(instance_type, scenario, seed), 5)
    return [writer.write_report(5000 * number) for number in range(reports)]


def truth_line(**members):
    """One line of a truth file as the simulator of two cores at work notes it."""
    line = {
        "instance": "i-1", "cores": 2, "nominal_s": 5.0, "at_ms": 0, "period_s": 5.0,
        "runtimes": 1, "percents": [50.0, 50.0], "held": [True, True],
        "executions": dict.fromkeys(ENDINGS, 0), "ecc_rises": dict.fromkeys(ECC, 0),
    }  # fmt: skip
    return json.dumps({**line, **members})
