"""The settings of `neuron-emf run`, including those for neuron-monitor's configuration."""

from __future__ import annotations

import ipaddress
import os
import re
import warnings
from dataclasses import dataclass
from pathlib import Path
from re import DOTALL
from typing import ClassVar, Final, NamedTuple

import click

from neuron_emitter.errors import SettingsError
from neuron_emitter.settings.minute_settings import (
    FOLDER_TYPE,
    LONGEST_INTERVAL_S,
    Amount,
    MinuteSettings,
    advanced,
    setting,
)
from neuron_wire.names import PAID_VALUES

EVERY_TAG: Final = ".*"
SYSTEM_SPOOL: Final = Path("/var/lib/neuron-emf")
MAX_REQUESTED_PERIOD_S: Final = 15
"""The longest period: with longer ones, one lost report leaves half a minute unknown."""


@dataclass(frozen=True, kw_only=True)
class MonitorSettings:
    """The settings that make neuron-monitor's configuration."""

    HEADING: ClassVar = "neuron-monitor"

    period: int = advanced(
        5,
        f"Seconds between neuron-monitor reports, 1 to {MAX_REQUESTED_PERIOD_S}.",
        kind=click.IntRange(1, MAX_REQUESTED_PERIOD_S),
    )
    groups: tuple[str, ...] = advanced(
        (),
        "Groups that neuron-monitor reports, such as neuroncore_counters alone; by default all.",
        metavar="GROUP",
    )
    tag_filter: str = advanced(
        EVERY_TAG,
        "Regular expression of the runtime tags to watch; cores of other runtimes are unknown.",
        metavar="REGEX",
    )
    monitor_config: Path | None = advanced(  # noqa: RUF009 - a field, not a shared value
        None,
        "Configuration file for neuron-monitor, used unchanged; by default "
        "generated from --period, --groups and --tag-filter.",
        kind=click.Path(dir_okay=False, path_type=Path),
        metavar="FILE",
    )

    def __post_init__(self) -> None:
        """Reject settings that contradict each other."""
        if self.monitor_config is not None and (self.groups or self.tag_filter != EVERY_TAG):
            msg = (
                "--monitor-config cannot be combined with --groups or --tag-filter: the "
                "file is used unchanged. Omit one or the other."
            )
            raise SettingsError(msg)
        require_expression(self.tag_filter)


# Syntax that only RE2 has: some escapes (group 1), flags anywhere (group 2); other escapes as they
# are.
_RE2: Final = re.compile(
    r"\\(?:(Q.*?(?:\\E|$)|[zC]|[pP](?:\{[^}]*\}|.))|.)|(\(\?[imsU-]+)(?=[:)])", DOTALL
)


def require_expression(text: str) -> None:
    """
    Reject a regular expression that is invalid in Python's syntax and in neuron-monitor's (RE2).

    Raises:
        SettingsError: If *text* is invalid in both syntaxes.
    """
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # about [[:alpha:]], which RE2 has
            re.compile(_RE2.sub(_in_python, text))
    except (re.error, OverflowError, RecursionError) as error:
        msg = f"--tag-filter {text!r} is not a valid regular expression: {error}. Correct it."
        raise SettingsError(msg) from error


def _in_python(escape: re.Match[str]) -> str:
    if escape[2]:
        return "(?:"
    return "x" if escape[1] else escape[0]


SEND_SPREAD_S: Final = 30.0
DEFAULT_LOG_GROUP: Final = "/neuron-emf/records"
FILE_PREFIX: Final = "file:"
MONITOR_INPUT: Final = "monitor"
LOGS: Final = "logs"
STDOUT: Final = "stdout"
AUTO: Final = "auto"
TEAM_ATTRIBUTION: Final = "team"
NONE: Final = "none"


def require_kernel_log(text: str) -> str:
    """
    Return *text* if it names a source of kernel messages.

    Raises:
        BadParameter: If it does not.
    """
    words = (AUTO, "kmsg", NONE)
    if text not in words and (text == FILE_PREFIX or not text.startswith(FILE_PREFIX)):
        msg = f"{text!r} is not one of {', '.join(words)}, {FILE_PREFIX}PATH"
        raise click.BadParameter(msg)
    return text


LOOPBACK: Final = "127.0.0.1"

_LISTEN_ADDRESS: Final = re.compile(
    r"(?:(?:\[(?P<six>[0-9A-Fa-f:.%A-Za-z]+)\]|(?P<host>[A-Za-z0-9._-]+)):)?(?P<port>[0-9]{1,5})"
)


class ListenAddress(NamedTuple):
    """An address or a name of this machine, and a port; 0 for a free port."""

    host: str
    port: int

    @property
    def is_loopback(self) -> bool:
        """Return True if only this machine can reach it."""
        try:
            return ipaddress.ip_address(self.host).is_loopback
        except ValueError:
            return self.host == "localhost"

    def __str__(self) -> str:
        return f"[{self.host}]:{self.port}" if ":" in self.host else f"{self.host}:{self.port}"


def read_listen_address(text: str) -> ListenAddress:
    """
    Read `PORT`, `ADDRESS:PORT` or `[ADDRESS]:PORT`; without an address, 127.0.0.1.

    >>> read_listen_address("[::]:8008")
    ListenAddress(host='::', port=8008)

    Raises:
        BadParameter: If *text* is of another form, or the port above 65535.
    """
    found = _LISTEN_ADDRESS.fullmatch(text.strip())
    if found is None or int(found["port"]) > 65_535:
        msg = (
            f"{text[:60]!r} is not a port such as 8008, or an address and port such as 0.0.0.0:8008"
        )
        raise click.BadParameter(msg)
    return ListenAddress(found["six"] or found["host"] or LOOPBACK, int(found["port"]))


@dataclass(frozen=True, kw_only=True)
class RegionSettings:
    """The setting of the AWS Region."""

    HEADING: ClassVar = "Where in AWS"

    region: str | None = setting(
        None,
        "AWS Region; by default AWS_REGION, AWS_DEFAULT_REGION or the SDK's.",
        metavar="NAME",
        short="-r",
    )


@dataclass(frozen=True, kw_only=True)
class LogGroupSettings(RegionSettings):
    """The setting of the log group of the lines."""

    HEADING: ClassVar = RegionSettings.HEADING

    log_group: str = setting(
        DEFAULT_LOG_GROUP,
        "Log group of the lines; the stack's output EmitterLogGroupName.",
        metavar="NAME",
    )


@dataclass(frozen=True, kw_only=True)
class RunSettings(LogGroupSettings, MonitorSettings, MinuteSettings):
    """Settings of the source of reports, the destination of lines, and the spool."""

    input: str = setting(
        MONITOR_INPUT,
        "Where reports come from: 'monitor' starts and supervises neuron-monitor, '-' reads "
        "standard input, anything else is a file or named pipe. The end of a file is a planned "
        "stop, the end of a pipe is a failure.",
        metavar="monitor|-|FILE",
    )
    monitor_command: str = advanced(
        "neuron-monitor", "Name or path of neuron-monitor.", metavar="COMMAND"
    )
    attribution: str = advanced(
        AUTO,
        "How to name the owner of a runtime on this machine: 'auto' by pod, ECS "
        "task, container, Slurm job, systemd unit or user of its process, 'team' "
        "by its team alone, so that nothing names a person, 'none' not at all.",
        kind=click.Choice((AUTO, TEAM_ATTRIBUTION, NONE)),
    )
    proc_dir: Path = advanced(  # noqa: RUF009 - a field, not a shared value
        Path("/proc"),
        "The /proc of the reports' machine; in a container, where the host's is "
        "mounted, such as /host/proc. The host's other files are read next to it.",
        kind=FOLDER_TYPE,
    )
    paid: str | None = advanced(
        None,
        "How the instance is paid for: 'committed' whether it runs or not, as in a "
        "capacity block or under a reservation, 'avoidable' only while it runs; "
        "by default the stack decides by lifecycle and instance type.",
        kind=click.Choice(PAID_VALUES),
    )
    interval: float | None = advanced(
        None,
        "Seconds between reports; accepted with a warning and without effect, by default as the "
        "reports themselves say.",
        kind=Amount(min=0.0, min_open=True, max=LONGEST_INTERVAL_S),
    )
    output: str = setting(
        LOGS,
        "Where lines go: 'logs' to CloudWatch Logs, 'stdout' to standard output.",
        kind=click.Choice((LOGS, STDOUT)),
    )
    log_stream: str = advanced(
        "{instance}",
        "Log stream of the lines, from {cluster}, {instance} and {region}; "
        "{shard:N} shares N streams among all instances of a very large fleet.",
        metavar="TEMPLATE",
    )
    spool_dir: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Directory that keeps records until they are delivered; by default /var/lib/neuron-emf if "
        "writable, else the user's state folder, or memory with --output stdout.",
        kind=FOLDER_TYPE,
    )
    spool_max_mib: int = advanced(
        256,
        "Size of the spool in MiB, 1 or more; when full, the oldest records are "
        "dropped and counted.",
        kind=click.IntRange(min=1),
    )
    spread_seconds: float = advanced(
        SEND_SPREAD_S,
        "Seconds after each minute over which instances spread their sends; 0 sends at once.",
        kind=Amount(0, 55),
    )
    kernel_messages: str = advanced(
        AUTO,
        "Where to read hardware faults from the kernel's messages: 'auto' is /dev/kmsg if "
        "readable and the reports are of this machine, 'kmsg' is /dev/kmsg, 'file:PATH' a file of "
        "the same format, 'none' nowhere.",
        kind=require_kernel_log,
        metavar="auto|kmsg|file:PATH|none",
    )
    prometheus: ListenAddress | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Serve the last report to Prometheus at http://ADDRESS:PORT/metrics, under the names of "
        "neuron-monitor-prometheus.py and our own; on 127.0.0.1 unless an address is given, "
        "without authentication. It needs the extra 'prometheus'; by default none.",
        kind=read_listen_address,
        metavar="[ADDRESS:]PORT",
    )
    verbose: bool = setting(default=False, help_text="More detail on standard error.")

    def __post_init__(self) -> None:
        """Reject settings that contradict each other."""
        MinuteSettings.__post_init__(self)
        MonitorSettings.__post_init__(self)
        if self.attribution == TEAM_ATTRIBUTION and self.raw_reports is not None:
            msg = (
                "--raw-reports writes the names that --attribution team leaves out. Omit one "
                "of them."
            )
            raise SettingsError(msg)


def spool_directory(settings: RunSettings) -> Path | None:
    """Return the directory that keeps records until they are delivered; None for memory."""
    if settings.spool_dir is not None:
        return settings.spool_dir
    if settings.output == STDOUT:
        return None
    if os.access(SYSTEM_SPOOL if SYSTEM_SPOOL.exists() else SYSTEM_SPOOL.parent, os.W_OK):
        return SYSTEM_SPOOL
    state = os.environ.get("XDG_STATE_HOME") or Path.home() / ".local" / "state"
    return Path(state) / "neuron-emf"
