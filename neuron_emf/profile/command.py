"""The command `neuron-emf profile`, and its settings."""

from __future__ import annotations

import io
import sys
import time
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from neuron_emf.command_output import escaped
from neuron_emf.profile.profile_line import profile_of, summaries_in
from neuron_emf.reading.periods import moment_ms
from neuron_emitter.command_line import Command, print_lines
from neuron_emitter.delivery.cloudwatch_logs import LogStream
from neuron_emitter.delivery.destination import Invalid, Undelivered, stream_name
from neuron_emitter.errors import DeliveryError, SettingsError
from neuron_emitter.settings.minute_settings import is_printable, require_cluster, setting
from neuron_emitter.settings.options import options
from neuron_emitter.settings.run_settings import LOGS, STDOUT, LogGroupSettings
from neuron_emitter.spool.spool_records import SpooledRecord
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuron_emf.profile.profile_line import Profile

MAX_MODEL_CHARS: Final = 255


@dataclass(frozen=True, kw_only=True)
class ProfileSettings(LogGroupSettings):
    """The subject of the summaries, and the destination of their lines."""

    cluster: str = setting("", "Cluster the profiles belong to; required.", metavar="NAME")
    model: str = setting("", "Profiled model; by default the name of the file.", metavar="NAME")
    time: str = setting(
        "",
        "Time of the profile, ISO 8601 in UTC, or a period ago such as 2h; by default now.",
        metavar="TIME",
    )
    output: str = setting(
        STDOUT,
        "Where lines go: standard output or CloudWatch Logs.",
        kind=click.Choice([STDOUT, LOGS]),
    )


@click.command(
    name="profile",
    cls=Command,
    epilog=(
        "Exit codes: 0 success, 2 usage error, 3 a file holds no summary, "
        "4 CloudWatch Logs rejected the lines, or standard output cannot be written."
    ),
)
@click.argument("files", nargs=-1, required=True, type=click.Path(path_type=Path))
@options(ProfileSettings)
def command(files: tuple[Path, ...], **values: object) -> int:
    """
    Turn a profiler's summary into log lines next to the fleet's metrics.

    FILES are summaries that neuron-profile or neuron-explorer print with `view
    --output-format summary-json`; - is standard input. Each profiled
    core gives one line, namespace Neuron/Profile. The findings of the rules of
    thumb are printed on standard error and are in the line.
    """
    settings = ProfileSettings(**values)  # type: ignore[arg-type]  # click made each value of its field's type
    require_cluster(settings.cluster)
    now_ms = int(time.time() * 1000)
    at_ms = moment_ms(settings.time, "--time", now_ms) if settings.time else now_ms
    profiles = [profile for path in files for profile in _profiles(path, settings, at_ms)]
    for title, profile in profiles:
        doubts = (("doubt", doubt) for doubt in profile.doubts)
        for rule, said in (*doubts, *profile.broken_rules.items()):
            click.echo(f"{escaped(title)}: {rule}: {said}.", err=True)
    quiet = sum(not profile.broken_rules for _, profile in profiles)
    total = counted(len(profiles), "profile")
    click.echo(f"{total}, {quiet} of them without a finding.", err=True)
    lines = [profile.line for _, profile in profiles]
    if settings.output == LOGS:
        _send(lines, at_ms, settings)
        return 0
    if isinstance(sys.stdout, io.TextIOWrapper):
        # the encoding of a log line, whatever the terminal's
        sys.stdout.reconfigure(encoding="utf-8")
    print_lines(lines)
    return 0


def _profiles(path: Path, settings: ProfileSettings, at_ms: int) -> Iterator[tuple[str, Profile]]:
    model = settings.model or ("profile" if str(path) == "-" else path.stem)
    if not is_printable(model, MAX_MODEL_CHARS):
        form = f"1 to {MAX_MODEL_CHARS} printable ASCII characters, such as llama-70b"
        msg = f"Invalid model name {model[:40]!a}. Use --model with {form}."
        raise SettingsError(msg)
    for name, values in summaries_in(path):
        yield f"{path} {name}".rstrip(), profile_of(values, settings.cluster, model, at_ms, name)


def _send(lines: Sequence[str], at_ms: int, settings: ProfileSettings) -> None:
    """Send the lines once and without a spool: the user sees a failure and can repeat it."""
    stream = stream_name("profiles/{cluster}", cluster=settings.cluster, instance_id="")
    with closing(LogStream(settings.log_group, stream, region=settings.region)) as destination:
        for number, line in enumerate(lines, 1):
            outcome = destination.send([SpooledRecord(number, "", number, at_ms, line)])
            if isinstance(outcome, Undelivered):
                raise DeliveryError(outcome.sentence)
            rejected = [outcome.reason] if isinstance(outcome, Invalid) else [*outcome.rejected]
            if rejected:
                msg = f"CloudWatch Logs rejected line {number}: {rejected[0]}; see --time."
                raise DeliveryError(msg)
    click.echo(f"Lines in {settings.log_group}, stream {stream}: {len(lines)}", err=True)
