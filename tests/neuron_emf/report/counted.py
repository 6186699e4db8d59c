"""A counting of made minutes."""

from __future__ import annotations

from neuron_emf.report.counting import Counting
from neuron_emf.report.period import ALWAYS
from neuron_wire.prices import Prices


def counted(*records, idle_after=15, prices=None, period=ALWAYS, cluster="", closings=()):
    """A counting of *records*, closed after those whose place is in *closings* and at the end."""
    counting = Counting(period, idle_after, prices or Prices(), cluster)
    for place, record in enumerate(records):
        counting.add(record)
        if place in closings:
            counting.close()
    counting.close()
    return counting


def the_one(counting):
    (instance,) = counting.instances.values()
    return instance
