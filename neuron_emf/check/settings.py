"""The settings of `neuron-emf check`: those of `run`, and which stack takes the lines."""

from __future__ import annotations

from dataclasses import dataclass

from emitter.settings import RunSettings
from emitter.settings.declaration import Amount, setting


@dataclass(frozen=True, kw_only=True)
class CheckSettings(RunSettings):
    """What is checked, and how long a monitor may take."""

    stack_name: str = setting(
        "neuron-emf",
        "Name of the stack that takes the lines; an empty one when there is none.",
        metavar="NAME",
    )
    rehearsal: bool = setting(
        default=False,
        help_text="Look at the rehearsal that `make demo` runs on this machine, at no account.",
    )
    monitor_seconds: float = setting(
        30.0,
        "Seconds that neuron-monitor may take for its first report, 1 to 120.",
        kind=Amount(1, 120),
    )
    quick: bool = setting(
        default=False,
        help_text="Only look whether the emitter of this machine does its work, for a health "
        "check: no network, no neuron-monitor; fails on what a restart can mend, and on nothing "
        "else.",
    )
    json: bool = setting(default=False, help_text="Print one JSON document, for a program.")
