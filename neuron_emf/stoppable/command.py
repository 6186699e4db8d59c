"""The command `neuron-emf stoppable`."""

from __future__ import annotations

import re
from typing import Final

import click

from emitter.command_line import CONTEXT
from emitter.errors import SettingsError
from emitter.settings.options import options
from neuron_emf.stoppable.settings import StoppableSettings

EXIT_HELD_BACK: Final = 1
_INSTANCE_ID: Final = re.compile(r"i-[0-9a-z]{1,17}")
_EPILOG: Final = (
    "Costs nothing: FilterLogEvents and the questions to EC2, Auto Scaling, ECS and Systems "
    "Manager are free. Exit codes: 0 the instance may be stopped, 1 it may not, 2 usage error, "
    "3 its lines could not be read, 4 standard output cannot be written."
)


@click.command(name="stoppable", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("instance")
@options(StoppableSettings)
def command(instance: str, **values: object) -> int:
    """
    Say whether an idle instance may be given back, and if not, why not.

    Looks at an hour of its lines, at its cluster and, with your AWS credentials,
    at the account: each guard is listed with what was found. What cannot be told
    never passes. Nothing is stopped: the command to do so is printed for you.
    """
    # --help needs none of these
    from neuron_emf.account import account  # noqa: PLC0415
    from neuron_emf.check.aws_client import AwsClient  # noqa: PLC0415
    from neuron_emf.payment import payment  # noqa: PLC0415
    from neuron_emf.printing import progress, show, show_json  # noqa: PLC0415
    from neuron_emf.reading.periods import now_ms  # noqa: PLC0415
    from neuron_emf.stoppable.account_reading import read_account_facts  # noqa: PLC0415
    from neuron_emf.stoppable.line_reading import read_line_facts  # noqa: PLC0415
    from neuron_emf.stoppable.listing import document, parts  # noqa: PLC0415
    from neuron_emf.stoppable.verdict import verdict  # noqa: PLC0415

    if not _INSTANCE_ID.fullmatch(instance):
        msg = f"{instance[:40]!a} is no id of an EC2 instance. Write it as i-0123456789abcdef0."
        raise SettingsError(msg)
    settings = StoppableSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    looked_at, paid_by_type = account(settings), payment(settings.paid_by_type)
    with progress("Reading lines"):
        lines = read_line_facts(looked_at, instance, now_ms(), paid_by_type)
        found = verdict(lines, read_account_facts(AwsClient(looked_at), instance))
    if settings.json:
        show_json(document(found))
    else:
        show(*parts(found))
    return 0 if found.is_stoppable else EXIT_HELD_BACK
