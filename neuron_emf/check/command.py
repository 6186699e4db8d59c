"""The command `neuron-emf check`."""

from __future__ import annotations

from dataclasses import fields
from functools import partial
from typing import TYPE_CHECKING

import click

from neuron_emf import check_results
from neuron_emf.check.quick import check_pulse
from neuron_emf.check.settings import CheckSettings, origins
from neuron_emitter.command_line import Command
from neuron_emitter.settings import RunSettings
from neuron_emitter.settings.options import FILE_READ, options

if TYPE_CHECKING:
    from neuron_emf.check.settings import Origin


@click.command(
    name="check",
    cls=Command,
    epilog=(
        "Exit codes: 0 nothing failed, whatever the warnings; 1 something failed or is unknown; "
        "2 usage error."
    ),
)
@options(CheckSettings, shown_elsewhere=[field.name for field in fields(RunSettings)])
@click.pass_context
def command(context: click.Context, /, **values: object) -> int:
    """
    Check everything a first record needs, and what is missing.

    It takes the options of `run` and tries what `run` would do with them. Each
    check ends with ok, a warning or failed, and shows what it found and what to
    do. It changes nothing except that it writes one line to the log stream
    `check/INSTANCE`, which no consumer reads as a record. Without a stack, use
    an empty --stack-name.

    With --quick it tries nothing. It reads whether the emitter of this machine
    does its work, for health checks.

    With --deployment it tries nothing of an emitter either. Before the stack is
    deployed or changed, it reports what the region and the account lack.
    """
    settings = CheckSettings(**values)  # type: ignore[arg-type]  # click made each of its field's type
    if settings.quick and not settings.json:
        results = check_pulse(settings)
        click.echo("\n".join(map(check_results.line, results)))
        return check_results.exit_code(results)
    from neuron_emf.check import deployment, listing, sequence  # noqa: PLC0415 - 0.2 s, unless --quick
    from neuron_emf.command_output import progress, show_answer  # noqa: PLC0415 - as above

    given: tuple[Origin, ...] = ()
    with progress("Checking") as advance:
        if settings.quick:
            results = check_pulse(settings)
        elif settings.deployment:
            results = deployment.check_deployment(settings)
        else:
            sources = {name: context.get_parameter_source(name) for name in values}
            given = origins(settings, sources, context.meta.get(FILE_READ))
            results = sequence.run_checks(settings, given, advance)
    can_do = listing.CAN_DEPLOY if settings.deployment else listing.CAN_SEND
    show_answer(
        results,
        partial(listing.for_programs, given=given),
        partial(listing.for_people, given=given, can_do=can_do),
        as_json=settings.json,
    )
    return check_results.exit_code(results)
