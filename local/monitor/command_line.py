"""
The command line: neuron-monitor's own two options, and the simulator's.

Every option of the simulator can also come from a variable, so that the emitter
can start it with nothing but `-c FILE`, as it starts the real one. The flag
wins over the variable.

Exit codes: 0 ended as told (also by SIGTERM, SIGINT or a reader that went
away), 1 the configuration cannot be used, an output cannot be written or the
scenario is `dies`, 2 usage error.
"""

from __future__ import annotations

import argparse
import os
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Final

from local.monitor.configuration import (
    ConfigurationError,
    default_configuration,
    read_configuration,
)
from local.monitor.hosts import HOST_NAMES
from local.monitor.play import Play, run
from local.monitor.processes import OwnersError, form_of
from local.monitor.scenarios import SCENARIOS

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

EXIT_FAILED: Final = 1
STANDARD_OUTPUT: Final = 1
VARIABLE_PREFIX: Final = "NEURON_SIM_"
_YES: Final = frozenset({"1", "true", "yes", "on"})
_NO: Final = frozenset({"", "0", "false", "no", "off"})


@dataclass(frozen=True, slots=True)
class Option:
    """One option of the simulator, and its variable."""

    flag: str
    default: str | None
    read: Callable[[str], object]
    meaning: str
    placeholder: str | None = None  # None: a switch

    @property
    def variable(self) -> str:
        """The variable that sets it."""
        return VARIABLE_PREFIX + self.flag.lstrip("-").replace("-", "_").upper()


def main(arguments: Sequence[str], environment: Mapping[str, str] = os.environ) -> int:
    """Run the simulator; returns the exit code."""
    parser = _parser(environment)
    chosen = parser.parse_args(arguments)
    if chosen.truth and chosen.no_wait and chosen.start_ms is None:
        parser.error(
            "--truth with --no-wait needs --start-ms, the time that the replay gives to the first "
            "report. Add it."
        )
    configuration = default_configuration()
    try:
        if chosen.config_file is not None:
            configuration = read_configuration(chosen.config_file)
    except ConfigurationError as error:
        print(f"neuron-monitor: {error}", file=sys.stderr)
        return EXIT_FAILED
    play = Play(
        instance_type=chosen.instance_type,
        scenario=chosen.scenario,
        seed=chosen.seed,
        instance_id=chosen.instance_id,
        period_ms=chosen.period,
        reports=chosen.reports,
        ends_after=chosen.ends_after,
        waits=not chosen.no_wait,
        start_ms=chosen.start_ms or 0,
        aligned=not chosen.no_align,
        truth=chosen.truth,
        verbose=chosen.verbose,
        machine=chosen.machine,
        owners=chosen.owners or (),
    )
    try:
        return run(play, configuration, STANDARD_OUTPUT)
    except OwnersError as error:
        parser.error(str(error))
    except OSError as error:
        place = error.filename or "standard output"
        print(
            f"neuron-monitor: Cannot write {place}: {error.strerror}. "
            "Check the folder, its permissions and the disk space.",
            file=sys.stderr,
        )
        return EXIT_FAILED


def _parser(environment: Mapping[str, str]) -> argparse.ArgumentParser:
    scenarios = "\n".join(f"  {name:<15}{one.meaning}" for name, one in SCENARIOS.items())
    parser = argparse.ArgumentParser(
        prog="neuron-monitor",
        description="A simulated neuron-monitor: one JSON report per line on standard output.",
        epilog=f"scenarios:\n{scenarios}",
        formatter_class=argparse.RawDescriptionHelpFormatter,
        allow_abbrev=False,
    )
    real = parser.add_argument_group("as the real one")
    real.add_argument(
        "-c",
        "--config-file",
        type=Path,
        metavar="FILE",
        help="groups and periods, as JSON; default: every group each 5 s",
    )
    real.add_argument(
        "--verbose",
        type=int,
        choices=range(5),
        default=0,
        help="how much to say on standard error; 4 says every report; default 0",
    )
    simulator = parser.add_argument_group("the simulator's own; each also from its variable")
    for option in OPTIONS:
        value = environment.get(option.variable, option.default)
        ending = "" if option.default is None else f"; default {option.default}"
        text = f"{option.meaning}{ending} [{option.variable}]"
        is_switch = option.placeholder is None
        simulator.add_argument(
            option.flag,
            nargs="?" if is_switch else None,
            const=True if is_switch else None,
            default=value,
            type=option.read,
            metavar=option.placeholder or "yes|no",
            help=text,
        )
    return parser


def _one_of(what: str, names: Sequence[str]) -> Callable[[str], str]:
    def read(text: str) -> str:
        if text in names:
            return text
        msg = f"not {what}: {text[:40]!r}. Choose one of {', '.join(names)}."
        raise argparse.ArgumentTypeError(msg)

    return read


def _whole(least: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if text.strip().isascii() and text.strip().isdigit() and int(text) >= least:
            return int(text)
        msg = f"not a whole number of at least {least}: {text[:40]!r}"
        raise argparse.ArgumentTypeError(msg)

    return read


def _period_ms(text: str) -> int:
    try:
        period_ms = round(float(text) * 1000)
    except (ValueError, OverflowError):
        period_ms = 0
    if period_ms >= 1:
        return period_ms
    msg = f"not a number of seconds of at least 0.001: {text[:40]!r}"
    raise argparse.ArgumentTypeError(msg)


def _owners(text: str) -> tuple[str, ...]:
    owners = tuple(owner.strip() for owner in text.split(",")) if text else ()
    try:
        for owner in owners:
            form_of(owner)
    except OwnersError as error:
        raise argparse.ArgumentTypeError(str(error)) from error
    return owners


def _switch(text: str) -> bool:
    if text.lower() in _YES | _NO:
        return text.lower() in _YES
    msg = f"neither yes nor no: {text[:40]!r}"
    raise argparse.ArgumentTypeError(msg)


OPTIONS: Final = (
    Option(
        "--instance-type", "trn1.32xlarge", _one_of("an instance type", HOST_NAMES),
        "EC2 instance type to play", "TYPE",
    ),
    Option(
        "--scenario", "busy", _one_of("a scenario", tuple(SCENARIOS)),
        "what the runtimes do; see below", "NAME",
    ),
    Option("--seed", "1", _whole(0), "chooses the numbers: the same seed, the same bytes", "N"),
    Option(
        "--instance-id", None, str,
        "instance id in the reports; default: made from type, scenario and seed", "ID",
    ),
    Option(
        "--period", None, _period_ms,
        "seconds, may be a fraction; replaces every period of the configuration", "SECONDS",
    ),
    Option("--reports", None, _whole(0), "end with code 0 after so many reports", "N"),
    Option("--ends-after", "12", _whole(0), "reports before dies dies and hangs hangs", "N"),
    Option("--no-wait", "no", _switch, "write without waiting, for hours of history"),
    Option(
        "--start-ms", None, _whole(0),
        "with --no-wait: time of the first report for --truth, ms since 1970", "MS",
    ),
    Option("--no-align", "no", _switch, "write near full minutes too"),
    Option("--machine", None, Path,
        "write the machine's /proc into this folder, and what says who owns its processes", "DIR",
    ),
    Option(
        "--owners", None, _owners, "for --machine: owners of the runtimes, by commas", "NAME,...",
    ),
    Option("--truth", None, Path, "append the truth to this file, a line per report", "FILE"),
)  # fmt: skip
