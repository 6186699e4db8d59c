"""
Settings that contradict each other, or that nothing can be done with.

Found as `run` finds them, before anything is opened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.delivery.log_names import require_group, require_template
from emitter.errors import SettingsError
from emitter.lines import differences
from emitter.reports.monitor_config import requested_config
from emitter.settings import require_cluster
from emitter.settings.run import LOGS
from emitter.writer import line_settings
from neuron_emf.check.result import CheckResult, failed, ok, warning

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.check.settings import CheckSettings, Origin

CHECK: Final = "settings"
_ANY_REGION: Final = "region"  # whether there is one is another check


def check_settings(settings: CheckSettings, origins: Sequence[Origin]) -> tuple[CheckResult, str]:
    """
    Try everything that `run` would refuse.

    Also what neuron-monitor is asked for, as JSON; empty when the settings cannot be used.
    """
    try:
        lines = line_settings(settings)
        config = requested_config(settings)
        if settings.cluster:
            require_cluster(settings.cluster)
        if settings.output == LOGS:
            require_group(settings.log_group)
            require_template(settings.log_stream, region=settings.region or _ANY_REGION)
    except SettingsError as error:
        return failed(CHECK, str(error), "correct it; run would exit with code 2"), ""
    given = sum(origin.is_given for origin in origins)
    said = [*differences(lines), *config.warnings]
    if said:
        return warning(CHECK, "; ".join(said), "nothing, if that is intended"), config.text
    found = f"{given} given, {len(origins) - given} at their defaults"
    return ok(CHECK, found), config.text
