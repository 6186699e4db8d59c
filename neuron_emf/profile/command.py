"""The command `neuron-emf profile`."""

from __future__ import annotations

import io
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emitter.command_line import CONTEXT, print_lines
from emitter.settings.options import options
from neuron_emf.profile.settings import LOGS, ProfileSettings, require_model

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuron_emf.profile.line import Profile

_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 a file holds no summary, "
    "4 CloudWatch Logs rejected the lines, or standard output cannot be written."
)
MAX_SAID: Final = 100  # findings and doubts on standard error


@click.command(name="profile", context_settings=CONTEXT, epilog=_EPILOG)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(ProfileSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Turn a profiler's summary into log lines beside the fleet's metrics.

    FILES are what neuron-profile or neuron-explorer print with `view
    --output-format summary-json`; - is standard input. Each core that was
    profiled gives one line, namespace Neuron/Profile. What the rules of thumb
    find is said on standard error, and is in the line.
    """
    from neuron_emf.reading.periods import moment_ms  # noqa: PLC0415 - --help needs none of it

    settings = ProfileSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    now_ms = int(time.time() * 1000)
    timestamp_ms = moment_ms(settings.time, "--time", now_ms) if settings.time else now_ms
    profiles = list(_profiles(files, settings, timestamp_ms))
    if settings.findings:
        _show(profiles, as_json=settings.json)
        return 0
    _say(profiles)
    lines = [profile.line for profile in profiles]
    if settings.output == LOGS:
        _send(lines, timestamp_ms, settings)
    else:
        _print(lines)
    return 0


def _profiles(
    files: Sequence[Path], settings: ProfileSettings, timestamp_ms: int
) -> Iterator[Profile]:
    from neuron_emf.profile.line import ProfileSubject, profile_of  # noqa: PLC0415 - as above
    from neuron_emf.profile.summaries import STANDARD_INPUT, summaries_in  # noqa: PLC0415

    for path in files:
        name = "profile" if str(path) == STANDARD_INPUT else path.stem
        model = settings.model or require_model(name)
        subject = ProfileSubject(settings.cluster or "-", model, settings.instance_id, timestamp_ms)
        for summary in summaries_in(path):
            yield profile_of(summary, subject)


def _send(lines: Sequence[str], timestamp_ms: int, settings: ProfileSettings) -> None:
    from emitter.delivery.cloudwatch_logs import LogStream  # noqa: PLC0415 - as above
    from emitter.delivery.log_names import stream_name  # noqa: PLC0415 - as above
    from neuron_emf.profile.log_delivery import STREAM, put  # noqa: PLC0415 - as above

    stream = stream_name(STREAM, cluster=settings.cluster, instance_id="")
    destination = LogStream(settings.log_group, stream, region=settings.region)
    try:
        put(lines, timestamp_ms, destination)
    finally:
        destination.close()
    click.echo(f"{len(lines)} lines are in {settings.log_group}, stream {stream}", err=True)


def _print(lines: Sequence[str]) -> None:
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(encoding="utf-8")  # of a log line, whatever the terminal's is
    print_lines(lines)


def _say(profiles: Sequence[Profile]) -> None:
    from neuron_emf.profile.listing import sentences  # noqa: PLC0415 - as above

    said = [text for profile in profiles for text in sentences(profile)]
    for text in said[:MAX_SAID]:
        click.echo(text, err=True)
    if len(said) > MAX_SAID:
        click.echo(f"{len(said) - MAX_SAID} more: --findings shows all", err=True)


def _show(profiles: Sequence[Profile], *, as_json: bool) -> None:
    from neuron_emf.printing import show, show_json  # noqa: PLC0415 - as above
    from neuron_emf.profile.listing import document, listing  # noqa: PLC0415 - as above

    if as_json:
        show_json(document(profiles))
    else:
        show(*listing(profiles))
