"""The command `neuron-emf profile`, and its settings."""

from __future__ import annotations

import io
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from emitter.command_line import CONTEXT, print_lines
from emitter.errors import DeliveryError, SettingsError
from emitter.settings import LOG_GROUP, require_cluster
from emitter.settings.declaration import setting
from emitter.settings.names import is_printable, require_instance_id
from emitter.settings.options import options

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from neuron_emf.profile.line import Profile

STDOUT: Final = "stdout"
LOGS: Final = "logs"
STREAM: Final = "profiles/{cluster}"
MAX_MODEL_CHARS: Final = 255
_EPILOG: Final = (
    "Exit codes: 0 success, 2 usage error, 3 a file holds no summary, "
    "4 CloudWatch Logs rejected the lines, or standard output cannot be written."
)


@dataclass(frozen=True, kw_only=True)
class ProfileSettings:
    """What the summaries are of, and where their lines go."""

    cluster: str = setting("", "Cluster the profiles belong to; required.", metavar="NAME")
    model: str = setting("", "Profiled model; by default the name of the file.", metavar="NAME")
    instance_id: str | None = setting(
        None, "Instance it was profiled on; by default none.", metavar="ID"
    )
    time: str = setting(
        "",
        "Time of the profile, ISO 8601, UTC unless it says otherwise, or a period ago such as "
        "2h; by default now.",
        metavar="TIME",
    )
    output: str = setting(
        STDOUT,
        "Where lines go: 'stdout' to standard output, 'logs' to CloudWatch Logs.",
        kind=click.Choice([STDOUT, LOGS]),
    )
    log_group: str = setting(
        LOG_GROUP, "Log group of the lines, with --output logs.", metavar="NAME"
    )
    region: str | None = setting(
        None,
        "AWS region of the log group; by default the one the AWS SDK finds.",
        metavar="NAME",
        short="-r",
    )
    findings: bool = setting(
        default=False, help_text="Print only what the rules of thumb find, no lines."
    )

    def __post_init__(self) -> None:
        """Refuse what CloudWatch cannot take as a dimension."""
        if not self.findings:
            require_cluster(self.cluster)
        require_instance_id(self.instance_id)


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
    profiles = [one for path in files for one in _profiles(path, settings, timestamp_ms)]
    for sentence in _sentences(profiles):
        click.echo(sentence, err=not settings.findings)
    lines = [profile.line for profile in profiles]
    if settings.findings:
        return 0
    if settings.output == LOGS:
        _send(lines, timestamp_ms, settings)
    else:
        if isinstance(sys.stdout, io.TextIOWrapper):
            sys.stdout.reconfigure(encoding="utf-8")  # of a log line, whatever the terminal's is
        print_lines(lines)
    return 0


def _profiles(path: Path, settings: ProfileSettings, timestamp_ms: int) -> Iterator[Profile]:
    from neuron_emf.profile.line import ProfileSubject, profile_of, summaries_in  # noqa: PLC0415

    model = settings.model or ("profile" if str(path) == "-" else path.stem)
    if not is_printable(model, MAX_MODEL_CHARS):
        msg = (
            f"The model's name is not 1 to {MAX_MODEL_CHARS} printable ASCII characters, as "
            "CloudWatch requires of dimensions. Choose a name with --model."
        )
        raise SettingsError(msg)
    subject = ProfileSubject(settings.cluster or "-", model, settings.instance_id, timestamp_ms)
    for name, values in summaries_in(path):
        yield profile_of(values, subject, name, title=f"{path} {name}".rstrip())


def _sentences(profiles: Sequence[Profile]) -> Iterator[str]:
    from neuron_emf.printing import escaped  # noqa: PLC0415 - as above

    for profile in profiles:
        title = escaped(profile.title)  # names of a file are foreign text
        yield from (f"{title}: doubt: {doubt}." for doubt in profile.doubts)
        yield from (f"{title}: {rule}: {said}." for rule, said in profile.findings.items())
    quiet = sum(not profile.findings for profile in profiles)
    total = f"{len(profiles)} profile{'' if len(profiles) == 1 else 's'}"
    yield f"{total}, {quiet} of them without a finding."


def _send(lines: Sequence[str], timestamp_ms: int, settings: ProfileSettings) -> None:
    """Once and without a spool: whoever types sees what failed, and can type it again."""
    from emitter.delivery.batches import cut  # noqa: PLC0415 - as above
    from emitter.delivery.cloudwatch_logs import LogStream  # noqa: PLC0415 - as above
    from emitter.delivery.destination import Delivered, Invalid  # noqa: PLC0415 - as above
    from emitter.delivery.log_names import stream_name  # noqa: PLC0415 - as above
    from emitter.spool.records import SpooledRecord  # noqa: PLC0415 - as above

    stream = stream_name(STREAM, cluster=settings.cluster, instance_id="")
    destination = LogStream(settings.log_group, stream, region=settings.region)
    records = [SpooledRecord(one, "", one, timestamp_ms, line) for one, line in enumerate(lines, 1)]
    parts = cut(records, now_ms=int(time.time() * 1000), limits=destination.limits)
    rejected: list[str] = [*parts.unsendable]
    try:
        for batch in parts.batches if not rejected else ():
            outcome = destination.send(batch)
            if isinstance(outcome, Delivered):
                rejected += outcome.rejected
            elif isinstance(outcome, Invalid):
                rejected.append(outcome.reason)
            else:
                raise DeliveryError(outcome.sentence)
    finally:
        destination.close()
    if rejected:
        reasons = ", ".join(sorted(set(rejected)))
        msg = f"CloudWatch Logs rejected at least one line: {reasons}; see --time."
        raise DeliveryError(msg)
    click.echo(f"{len(lines)} lines are in {settings.log_group}, stream {stream}", err=True)
