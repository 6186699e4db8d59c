"""The command `neuron-emf check`."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from emitter.command_line import CONTEXT
from emitter.settings.options import FILE_READ, options
from neuron_emf.check.settings import CheckSettings

if TYPE_CHECKING:
    from collections.abc import Mapping
    from pathlib import Path

EXIT_SOMETHING_FAILED: Final = 1

_EPILOG: Final = (
    "Exit codes: 0 nothing failed, whatever the warnings; 1 something failed; 2 wrong use."
)


@click.command(name="check", context_settings=CONTEXT, epilog=_EPILOG)
@options(CheckSettings)
@click.pass_context
def command(context: click.Context, /, **values: object) -> int:
    """
    Try everything that a first record needs, and say what is missing.

    It takes the options of `run`, and does what `run` would do with them: each
    check ends ok, with a warning or failed, with what was found and what to do.
    Nothing is changed, but for one log stream `check/INSTANCE` and one line
    in it, which no consumer takes for a record.

    With --quick nothing is tried: it looks whether the emitter that runs here
    does its work, and is what a health check calls.
    """
    settings = CheckSettings(**values)  # type: ignore[arg-type]  # click made each of its field's type
    return _look(settings) if settings.quick else _try_all(context, settings, values)


def _try_all(context: click.Context, settings: CheckSettings, values: Mapping[str, object]) -> int:
    from neuron_emf.check.course import run_checks  # noqa: PLC0415 - --help needs none of it
    from neuron_emf.check.finding import FAILED  # noqa: PLC0415 - as above
    from neuron_emf.check.origin import origins  # noqa: PLC0415 - as above
    from neuron_emf.check.showing import document, parts  # noqa: PLC0415 - as above
    from neuron_emf.printing import progress, show, show_json  # noqa: PLC0415 - as above

    file: Path | None = context.meta.get(FILE_READ)
    given = origins(settings, {name: context.get_parameter_source(name) for name in values}, file)
    with progress("Checking") as advance:
        sections = run_checks(settings, given, advance)
    if settings.json:
        show_json(document(sections, given))
    else:
        show(*parts(sections, given))
    has_failed = any(
        finding.state == FAILED for section in sections for finding in section.findings
    )
    return EXIT_SOMETHING_FAILED if has_failed else 0


def _look(settings: CheckSettings) -> int:
    from neuron_emf.check.finding import FAILED  # noqa: PLC0415 - as above
    from neuron_emf.check.quick import lines, look  # noqa: PLC0415 - as above

    findings = look(settings)
    if settings.json:
        from neuron_emf.check.course import Section  # noqa: PLC0415 - as above
        from neuron_emf.check.showing import document  # noqa: PLC0415 - as above
        from neuron_emf.printing import show_json  # noqa: PLC0415 - as above

        show_json(document([Section("this machine", tuple(findings))], ()))
    else:
        for line in lines(findings):
            click.echo(line)
    has_failed = any(finding.state == FAILED for finding in findings)
    return EXIT_SOMETHING_FAILED if has_failed else 0
