"""The command `neuron-emf cost`."""

from __future__ import annotations

from typing import Final

import click

from emitter.command_line import CONTEXT
from emitter.settings.options import options
from neuron_emf.cost.settings import CostSettings

_EPILOG: Final = (
    "No account is read: sizes and times were measured, prices are from a dated list. "
    "Exit codes: 0 success, 2 usage error."
)


@click.command(name="cost", context_settings=CONTEXT, epilog=_EPILOG)
@options(CostSettings)
def command(**values: object) -> int:
    """
    Estimate a fleet's monthly bill, and that of the alternatives.

    Every entry of the bill: the emitters' lines, the rollups, functions, table,
    stream, metrics, alarms, dashboard. Beside it PutMetricData with 27 metrics
    an instance, metrics of every core as Container Insights has them, and the
    price of the instances themselves.
    """
    from neuron_emf.cost.estimate import estimate  # noqa: PLC0415 - --help needs none of it
    from neuron_emf.cost.listing import document, tables  # noqa: PLC0415 - as above
    from neuron_emf.cost.measurements import read  # noqa: PLC0415 - as above
    from neuron_emf.cost.question import question  # noqa: PLC0415 - as above
    from neuron_emf.printing import show, show_json  # noqa: PLC0415 - as above

    settings = CostSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    answer = estimate(read(), question(settings))
    if settings.json:
        show_json(document(answer))
    else:
        show(*tables(answer))
    return 0
