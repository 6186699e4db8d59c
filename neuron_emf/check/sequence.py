"""
Which checks there are, in which order, and what each waits for.

A check that cannot be tried says why, so that the first failure of the list is
the one to act on. No check is left out of the list: a program that reads it
finds each by its name, whatever happened.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.instance.identity import find_instance
from emitter.settings.run import MONITOR as START_MONITOR
from neuron_emf.check.aws_sequence import AwsSequence
from neuron_emf.check.configuration import check_settings
from neuron_emf.check.identity import check_cluster, check_instance
from neuron_emf.check.neuron_monitor import (
    DEVICES,
    MONITOR,
    check_devices,
    check_input,
    check_monitor,
)
from neuron_emf.check.price import check_payment, check_price, told_instance
from neuron_emf.check.result import CheckResult, CheckSection, not_needed, not_tried
from neuron_emf.check.spool import check_spool
from neuron_emf.check.this_machine import check_attribution, check_kernel_log, check_output

if TYPE_CHECKING:
    from collections.abc import Sequence

    from emitter.instance.facts import InstanceFacts
    from emitter.reports.report import Report
    from neuron_emf.check.settings import CheckSettings, Origin
    from neuron_emf.printing import Advance


_OF_THIS_MACHINE: Final = (check_attribution, check_kernel_log, check_spool, check_output)


def run_checks(
    settings: CheckSettings, origins: Sequence[Origin], advance: Advance
) -> list[CheckSection]:
    """Every section in its order; *advance* hears how many of how many are done."""
    parts = 4
    configuration, monitor_config = check_settings(settings, origins)
    sections = [CheckSection("configuration", (configuration,))]
    advance(1, parts)
    monitor, report = _monitor(settings, monitor_config)
    facts = find_instance()
    reports = (monitor, _devices(settings, report, facts), check_input(settings))
    sections.append(CheckSection("reports", reports))
    advance(2, parts)
    where = {origin.name: origin.where for origin in origins}
    cluster, cluster_name = check_cluster(settings, where["cluster"])
    instance, instance_id = check_instance(settings, facts, report)
    told = told_instance(facts, report)
    price, payment = check_price(told), check_payment(settings.paid, told)
    sections.append(CheckSection("identity", (cluster, instance, price, payment)))
    advance(3, parts)
    aws = AwsSequence(
        settings, facts.region, where["region"], lambda share: advance(3 + share, parts)
    )
    access, groups, lines = aws.run(cluster_name, instance_id)
    sections += [
        CheckSection("account", access),
        CheckSection("log groups", groups),
        CheckSection("one line", lines),
        CheckSection("this machine", tuple(check(settings) for check in _OF_THIS_MACHINE)),
    ]
    advance(parts, parts)
    return sections


def _monitor(settings: CheckSettings, configuration: str) -> tuple[CheckResult, Report | None]:
    if settings.input == START_MONITOR and not configuration:
        return not_tried(MONITOR, "the settings say nothing it could be asked for"), None
    return check_monitor(settings, configuration)


def _devices(settings: CheckSettings, report: Report | None, facts: InstanceFacts) -> CheckResult:
    if settings.input != START_MONITOR:
        return not_needed(DEVICES, "no report is read")
    info = report.instance_info if report is not None else None
    reported = info.instance_type if info is not None else None
    return check_devices(report, reported or facts.instance_type)
