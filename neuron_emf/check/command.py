"""The command `neuron-emf check`."""

from __future__ import annotations

from dataclasses import fields
from typing import TYPE_CHECKING, Final

import click

from neuron_emf import check_results
from neuron_emf.check.settings import CheckSettings, origins
from neuron_emitter.command_line import Command
from neuron_emitter.settings import RunSettings
from neuron_emitter.settings.options import FILE_READ, options
from neuron_words.name_words import printable

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from rich.console import RenderableType

    from neuron_emf.check.settings import Origin
    from neuron_emf.check_results import CheckResult
    from neuron_wire.line_members import Members

CAN_SEND: Final = "A first record {} be sent"
CAN_DEPLOY: Final = "The stack {} be deployed"


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

    It takes the options of `run`, and does what `run` would do with them: each
    check ends ok, with a warning or failed, with what was found and what to do.
    Nothing is changed except one log stream `check/INSTANCE` and one line in
    it, which no consumer reads as a record. Without a stack, give it an
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
    results = _results(settings, given)
    if settings.json:
        from neuron_emf.command_output import show_json  # noqa: PLC0415 - --help does not need it

        show_json(for_programs(results, given))
    elif settings.quick:  # without Rich: a health check calls it every half minute
        click.echo("\n".join(map(check_results.line, results)))
    else:
        from neuron_emf.command_output import show  # noqa: PLC0415 - as above

        show(*for_people(results, given, can_do=CAN_DEPLOY if settings.deployment else CAN_SEND))
    return check_results.exit_code(results)


def for_people(
    results: Sequence[CheckResult], given: Sequence[Origin], can_do: str = CAN_SEND
) -> list[RenderableType]:
    """Return the checks, the settings that are not at their defaults, and the summary."""
    failures = check_results.failures(results)
    verdict = can_do.format("cannot" if failures else "can")
    if failures and all(result.state == check_results.CHECK_UNKNOWN for result in failures):
        question = can_do.format("can")
        verdict = f"It is unknown whether {question[:1].lower()}{question[1:]}"
    last = f"{verdict}: {check_results.counted_states(results)}."
    return [*check_results.for_people(results), *_settings(given), last]


def for_programs(results: Sequence[CheckResult], given: Sequence[Origin]) -> Members:
    """Return the results as one document."""
    settings = [
        {"setting": origin.name, "value": origin.value or None, "from": origin.where}
        for origin in given
    ]
    return {**check_results.for_programs(results), "settings": settings}


def _settings(origins: Sequence[Origin]) -> Iterator[RenderableType]:
    """Return the settings that the operator has set."""
    from rich.table import Table  # noqa: PLC0415 - not for --quick
    from rich.text import Text  # noqa: PLC0415 - as above

    given = [origin for origin in origins if origin.is_given]
    if not given:
        return
    table = Table.grid("", "", "", padding=(0, 2, 0, 0))
    for column in table.columns[1:]:
        column.overflow = "fold"
    for origin in given:
        cells = f"  {origin.name}", origin.value, f"from {origin.where}"
        table.add_row(*(Text(printable(cell, check_results.LONGEST)) for cell in cells))
    yield Text("settings not at their defaults", style="bold")
    yield table
    yield Text()


def _results(settings: CheckSettings, given: Sequence[Origin]) -> list[CheckResult]:
    if settings.quick:
        from neuron_emf.check.quick import check_pulse  # noqa: PLC0415 - as above

        return check_pulse(settings)
    from neuron_emf.command_output import progress  # noqa: PLC0415 - as above

    if settings.deployment:
        from neuron_emf.check.deployment import check_deployment  # noqa: PLC0415 - as above

        with progress("Checking"):
            return check_deployment(settings)
    from neuron_emf.check.sequence import run_checks  # noqa: PLC0415 - as above

    with progress("Checking") as advance:
        return run_checks(settings, given, advance)
