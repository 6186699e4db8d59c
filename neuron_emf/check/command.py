"""The command `neuron-emf check`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final

import click

from emitter.command_line import Command
from emitter.settings import RunSettings
from emitter.settings.options import FILE_READ, options
from neuron_emf.check.result import FAILED, CheckSection, count_states
from neuron_emf.check.settings import CheckSettings, origins

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.check.settings import Origin

EXIT_SOMETHING_FAILED: Final = 1

_EPILOG: Final = (
    "Exit codes: 0 nothing failed, whatever the warnings; 1 something failed; 2 usage error."
)


@click.command(name="check", cls=Command, epilog=_EPILOG)
@options(CheckSettings, shown_elsewhere=[one.name for one in fields(RunSettings)])
@click.pass_context
def command(context: click.Context, /, **values: object) -> int:
    """
    Check everything a first record needs, and what is missing.

    It takes the options of `run`, and does what `run` would do with them: each
    check ends ok, with a warning or failed, with what was found and what to do.
    Nothing is changed, but for one log stream `check/INSTANCE` and one line
    in it, which no consumer takes for a record. Without a stack, give it an
    empty --stack-name.

    With --quick nothing is tried: it looks whether the emitter that runs here
    does its work, and is what a health check calls.

    With --deployment nothing of an emitter is tried either: it says, before
    the stack is deployed or changed, what the region and the account lack.
    """
    settings = CheckSettings(**values)  # type: ignore[arg-type]  # click made each of its field's type
    given: tuple[Origin, ...] = ()
    if not (settings.quick or settings.deployment):
        sources = {name: context.get_parameter_source(name) for name in values}
        given = origins(settings, sources, context.meta.get(FILE_READ))
    sections = _sections(settings, given)
    if settings.json:
        from neuron_emf.check.listing import document  # noqa: PLC0415 - --help needs none of it
        from neuron_emf.printing import show_json  # noqa: PLC0415 - as above

        show_json(document(sections, given))
    elif settings.quick:  # without Rich: it is asked every half minute
        from neuron_emf.check.quick import lines  # noqa: PLC0415 - as above

        for line in lines(sections[0].results):
            click.echo(line)
    else:
        from neuron_emf.check.listing import parts  # noqa: PLC0415 - as above
        from neuron_emf.printing import show  # noqa: PLC0415 - as above

        show(*parts(sections, given, "deployment" if settings.deployment else "record"))
    return EXIT_SOMETHING_FAILED if count_states(sections)[FAILED] else 0


def _sections(settings: CheckSettings, given: Sequence[Origin]) -> list[CheckSection]:
    if settings.quick:
        from neuron_emf.check.quick import look  # noqa: PLC0415 - as above

        return [CheckSection("this machine", tuple(look(settings)))]
    from neuron_emf.printing import progress  # noqa: PLC0415 - as above

    if settings.deployment:
        from neuron_emf.check.deployment import check_deployment  # noqa: PLC0415 - as above

        with progress("Checking"):
            return check_deployment(settings)
    from neuron_emf.check.sequence import run_checks  # noqa: PLC0415 - as above

    with progress("Checking") as advance:
        return run_checks(settings, given, advance)
