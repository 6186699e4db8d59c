"""
The list as the pages show it: of a check against an account on this machine.

What differs from machine to machine is replaced before it is laid out; the rest
is what the command says.
"""

from __future__ import annotations

import io
import re
from contextlib import redirect_stdout
from dataclasses import replace
from typing import TYPE_CHECKING

from click.core import ParameterSource

from neuron_emf.check.command import for_people
from neuron_emf.check.sequence import run_checks
from neuron_emf.check.settings import CheckSettings, origins
from neuron_emf.printing import show

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_emf.checks import CheckResult

GIVEN = ("cluster", "region")
MONITOR = "/opt/aws/neuron/bin/neuron-monitor"
SPOOL = "/var/lib/neuron-emf"
ROLE = "arn:aws:sts::123456789012:assumed-role/trainers/i-0123456789abcdef0"


def example(folder: Path, monitor: Path) -> str:
    """
    What `neuron-emf check --cluster blue --region us-west-2` prints.

    Without the white space at the ends of lines, by which tables are filled up.
    """
    settings = CheckSettings(
        cluster="blue", region="us-west-2", monitor_command=str(monitor), spool_dir=folder
    )
    given = origins(settings, dict.fromkeys(GIVEN, ParameterSource.COMMANDLINE), None)
    results = run_checks(settings, given, lambda *_: None)
    out = io.StringIO()
    with redirect_stdout(out):
        show(*for_people([_usual(one, folder, monitor) for one in results], given))
    return "".join(f"{line.rstrip()}\n" for line in out.getvalue().splitlines())


def _usual(result: CheckResult, folder: Path, monitor: Path) -> CheckResult:
    def told(text: str) -> str:
        text = text.replace(str(monitor), MONITOR).replace(str(folder), SPOOL)
        text = text.replace("arn:aws:iam::123456789012:user/testing", ROLE)
        text = re.sub(r"within \d+\.\d s$", "within 1.2 s", text)
        return re.sub(r"(?<=, )\d+ MiB free", "18432 MiB free", text)

    return replace(result, found=told(result.found), advice=told(result.advice))
