"""
Which checks there are, in which order, and what each waits for.

A check that cannot be tried says why, so that the first failure of the list is
the one to act on. No check is left out of the list: a program that reads it
finds each by its name, whatever happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.delivery.log_names import require_group, require_template
from emitter.errors import SettingsError
from emitter.instance.identity import find_instance
from emitter.lines import differences
from emitter.reports.monitor_config import requested_config
from emitter.settings import require_cluster
from emitter.settings.run import LOGS
from emitter.writer import line_settings
from neuron_emf.check.aws_sequence import AwsSequence
from neuron_emf.check.identity import (
    check_cluster,
    check_instance,
    check_payment,
    check_price,
    told_instance,
)
from neuron_emf.check.neuron_monitor import check_devices, check_input, check_monitor
from neuron_emf.check.result import CheckResult, CheckSection, failed, ok, warning
from neuron_emf.check.this_machine import (
    check_attribution,
    check_kernel_log,
    check_output,
    check_spool,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from neuron_emf.check.settings import CheckSettings, Origin
    from neuron_emf.printing import Advance

SETTINGS: Final = "settings"
_ANY_REGION: Final = "region"  # whether there is one is another check
_OF_THIS_MACHINE: Final = (check_attribution, check_kernel_log, check_spool, check_output)


def run_checks(
    settings: CheckSettings, origins: Sequence[Origin], advance: Advance
) -> list[CheckSection]:
    """Every section in its order; *advance* hears how many of how many are done."""
    parts = 4
    configuration, monitor_config = check_settings(settings, origins)
    sections = [CheckSection("configuration", (configuration,))]
    advance(1, parts)
    monitor, report = check_monitor(settings, monitor_config)
    facts = find_instance()
    told = told_instance(facts, report)
    devices = check_devices(settings, report, told.instance_type)
    reports = (monitor, devices, check_input(settings))
    sections.append(CheckSection("reports", reports))
    advance(2, parts)
    where = {origin.name: origin.where for origin in origins}
    cluster, cluster_name = check_cluster(settings, where["cluster"])
    instance, instance_id = check_instance(settings, facts, report)
    price, payment = check_price(told), check_payment(settings.paid, told)
    sections.append(CheckSection("identity", (cluster, instance, price, payment)))
    advance(3, parts)
    aws = AwsSequence(
        settings, facts.region, where["region"], lambda share: advance(3 + share, parts)
    )
    sections += aws.run(cluster_name, instance_id)
    of_machine = tuple(check(settings) for check in _OF_THIS_MACHINE)
    sections.append(CheckSection("this machine", of_machine))
    advance(parts, parts)
    return sections


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
        return failed(SETTINGS, str(error), "correct it; run would exit with code 2"), ""
    given = sum(origin.is_given for origin in origins)
    said = [*differences(lines), *config.warnings]
    if said:
        return warning(SETTINGS, "; ".join(said), "nothing, if that is intended"), config.text
    found = f"{given} given, {len(origins) - given} at their defaults"
    return ok(SETTINGS, found), config.text
