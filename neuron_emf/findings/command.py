"""The command `neuron-emf findings`."""

from __future__ import annotations

from typing import Final

import click

from emitter.command_line import CONTEXT
from emitter.settings.options import options
from neuron_emf.findings.settings import FindingsSettings

_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 AWS rejected the request or did not answer, "
    "4 standard output takes nothing."
)


@click.command(name="findings", context_settings=CONTEXT, epilog=_EPILOG)
@options(FindingsSettings)
def command(**values: object) -> int:
    """
    List open findings: idle instances and cores, silent instances, faults.

    Reads the stack's table (dynamodb:Query) and its name
    (cloudformation:DescribeStacks) with your AWS credentials and changes nothing.
    """
    from neuron_emf import printing  # noqa: PLC0415 - --help needs none
    from neuron_emf.account import account  # noqa: PLC0415 - as above
    from neuron_emf.findings.listing import members, shown  # noqa: PLC0415 - as above
    from neuron_emf.findings.reading import read_findings  # noqa: PLC0415 - as above

    settings = FindingsSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    found = read_findings(account(settings))
    chosen = [
        one
        for one in found.findings
        if settings.cluster in ("", one.key.cluster) and settings.kind in ("", one.key.kind)
    ]
    if settings.json:
        printing.show_json(members(chosen, found.waiting))
    else:
        printing.show(*shown(chosen, found.waiting))
    return 0
