"""Rules that say which team an owner belongs to, read from a file of whoever pays."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.errors import SettingsError
from neuron_wire.teams import TeamRules, TeamRulesError, team_rules_of_file

if TYPE_CHECKING:
    from pathlib import Path

TEAMS_HELP: Final = (
    "Rules that say which team an owner belongs to, each as the stack's Teams takes it, one a "
    "line; the first that matches counts. By default the teams that schedulers report."
)


def teams(file: Path | None) -> TeamRules:
    """
    The rules of *file*, none without one.

    Raises:
        SettingsError: If it cannot be read or holds something else.
    """
    if file is None:
        return TeamRules()
    try:
        return team_rules_of_file(file.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is not UTF-8"
        msg = f"--teams cannot read {file}: {reason}"
        raise SettingsError(msg) from error
    except TeamRulesError as error:
        msg = f"--teams {file}, {error}"
        raise SettingsError(msg) from error
