"""The settings of `neuron-emf run`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Final

import click

from emitter.settings.declaration import LONGEST_INTERVAL_S, Amount, OneOf, setting
from emitter.settings.listen_address import ListenAddressType
from emitter.settings.minutes import MinuteSettings
from emitter.settings.monitor import MonitorSettings
from neuron_wire.payment import PAID

LOG_GROUP: Final = "/neuron-emf/records"
AGENT_ENDPOINT: Final = "tcp://127.0.0.1:25888"  # where the CloudWatch agent listens for EMF
FILE_PREFIX: Final = "file:"
MONITOR: Final = "monitor"
LOGS: Final = "logs"
AGENT: Final = "agent"
STDOUT: Final = "stdout"
AUTO: Final = "auto"
NONE: Final = "none"


@dataclass(frozen=True, kw_only=True)
class RunSettings(MonitorSettings, MinuteSettings):
    """From where reports come, to where lines go, and what is kept in between."""

    input: str = setting(
        MONITOR,
        "Where reports come from: 'monitor' starts and supervises neuron-monitor, "
        "'-' reads them from standard input, anything else is a file or named pipe; the end "
        "of a file is a planned stop, that of a pipe a failure.",
        metavar="monitor|-|FILE",
    )
    monitor_command: str = setting(
        "neuron-monitor", "Name or path of neuron-monitor.", metavar="COMMAND"
    )
    attribution: str = setting(
        AUTO,
        "Whose runtimes are, of reports of this machine: 'auto' names the pod, ECS task, "
        "container, Slurm job, systemd unit or user of a pid where it can be seen, 'none' does "
        "not look.",
        kind=click.Choice((AUTO, NONE)),
    )
    proc_dir: Path = setting(  # noqa: RUF009 - a field, not a shared value
        Path("/proc"),
        "Where the /proc of the machine is that the reports are of; in a container the folder "
        "where the host's is mounted, such as /host/proc: the host's other files are then looked "
        "for beside it.",
        kind=click.Path(file_okay=False, path_type=Path),
    )
    paid: str | None = setting(
        None,
        "How the instance is paid, for the costs of the stack: 'sunk' in any case, as in a "
        "capacity block or under a reservation, 'avoidable' only while it runs; by default the "
        "stack goes by the instance's lifecycle and type.",
        kind=click.Choice(PAID),
    )
    interval: float | None = setting(
        None,
        "Accepted with a warning, without effect: how many seconds a report covers is by default "
        "what it says itself.",
        kind=Amount(min=0.0, min_open=True, max=LONGEST_INTERVAL_S),
    )
    output: str = setting(
        LOGS,
        "Where lines go: 'logs' to CloudWatch Logs, 'agent' to the CloudWatch agent's EMF socket, "
        "'file:PATH' to a file that is rotated, 'stdout' to standard output.",
        kind=OneOf((LOGS, AGENT, STDOUT), FILE_PREFIX, "PATH"),
        metavar="logs|agent|file:PATH|stdout",
    )
    log_group: str = setting(
        LOG_GROUP, "Log group of the lines; the stack's output EmitterLogGroupName.", metavar="NAME"
    )
    log_stream: str = setting(
        "{instance}",
        "Log stream of the lines, made of {cluster}, {instance} and {region}; {shard:N} shares N "
        "streams among all instances of a very large fleet.",
        metavar="TEMPLATE",
    )
    region: str | None = setting(
        None,
        "AWS region of the log group; by default what the AWS SDK finds.",
        metavar="NAME",
        short="-r",
    )
    agent_endpoint: str = setting(
        AGENT_ENDPOINT,
        "Address of the CloudWatch agent's EMF socket, for --output agent.",
        metavar="tcp://HOST:PORT",
    )
    rotate_mib: int = setting(
        64,
        "Size in MiB at which the file of --output file:PATH is rotated, 1 or more.",
        kind=click.IntRange(min=1),
    )
    rotate_keep: int = setting(
        5,
        "Rotated files to keep beside the file of --output file:PATH, 0 to 999.",
        kind=click.IntRange(0, 999),
    )
    spool_dir: Path | None = setting(  # noqa: RUF009 - a field, not a shared value
        None,
        "Directory that keeps records until they are delivered; by default "
        "/var/lib/neuron-emf where it is writable, else the user's state folder, "
        "and memory with --output stdout.",
        kind=click.Path(file_okay=False, path_type=Path),
    )
    spool_max_mib: int = setting(
        256,
        "Size of the spool in MiB, 1 or more; when it is full the oldest records are dropped, "
        "and counted.",
        kind=click.IntRange(min=1),
    )
    spread_seconds: float = setting(
        30.0,
        "Sends are spread over this many seconds after each minute, by instance; 0 sends at once.",
        kind=Amount(0, 55),
    )
    kernel_messages: str = setting(
        "auto",
        "Where the kernel's messages on hardware faults are read: 'auto' from /dev/kmsg if it may "
        "be read and the reports are of this machine, 'kmsg' from /dev/kmsg, 'file:PATH' from a "
        "file that speaks like it, 'none' from nowhere; 'journal', of earlier versions, as 'auto'.",
        kind=OneOf(("auto", "kmsg", "journal", "none"), FILE_PREFIX, "PATH"),
        metavar="auto|kmsg|journal|file:PATH|none",
    )
    prometheus: str | None = setting(
        None,
        "Serve the values of the last report to Prometheus at http://ADDRESS:PORT/metrics, under "
        "the names of neuron-monitor-prometheus.py and under our own; at 127.0.0.1 unless an "
        "address is given, without authentication; needs the extra 'prometheus'; by default none.",
        kind=ListenAddressType(),
        metavar="[ADDRESS:]PORT",
    )
    verbose: bool = setting(default=False, help_text="Say more on standard error.")

    def __post_init__(self) -> None:
        """Refuse what no option type can."""
        MinuteSettings.__post_init__(self)
        MonitorSettings.__post_init__(self)
