"""The settings of `neuron-emf profile`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import click

from emitter.errors import SettingsError
from emitter.settings import LOG_GROUP, require_cluster
from emitter.settings.declaration import setting
from emitter.settings.names import is_printable, require_instance_id

STDOUT: Final = "stdout"
LOGS: Final = "logs"
MAX_MODEL_CHARS: Final = 255


@dataclass(frozen=True, kw_only=True)
class ProfileSettings:
    """What the summaries are of, and where their lines go."""

    cluster: str = setting(
        "", "Cluster that the profiles are shown beside; required.", metavar="NAME"
    )
    model: str = setting(
        "", "Model that was profiled; by default the name of the file.", metavar="NAME"
    )
    instance_id: str | None = setting(
        None, "Instance on which it was profiled; by default none is named.", metavar="ID"
    )
    time: str = setting(
        "",
        "Moment of the profile, ISO 8601, UTC unless it says otherwise, or a period ago such as "
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
        default=False, help_text="Print what the rules of thumb find, and no line."
    )
    json: bool = setting(default=False, help_text="With --findings: print them as JSON.")

    def __post_init__(self) -> None:
        """Refuse what CloudWatch cannot take as a dimension."""
        if not self.findings:
            require_cluster(self.cluster)
        require_instance_id(self.instance_id)
        if self.model:
            require_model(self.model)


def require_model(model: str) -> str:
    """
    Give *model* back if it can be a dimension.

    Raises:
        SettingsError: If it cannot.
    """
    if not is_printable(model, MAX_MODEL_CHARS):
        msg = (
            f"the model was expected to be 1 to {MAX_MODEL_CHARS} printable ASCII characters, as "
            "CloudWatch dimensions are, and it is not: choose a name with --model"
        )
        raise SettingsError(msg)
    return model
