"""
Which checks there are, in which order, and what each waits for.

A check that cannot be tried says why, so that the first failure of the list is
the one to act on. No check is left out of the list: a program that reads it
finds each by its name, whatever happened.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from emitter.instance.identity import find_instance
from emitter.settings.run import MONITOR as START_MONITOR
from neuron_emf.check.attribution import check_attribution
from neuron_emf.check.aws_course import AwsCourse
from neuron_emf.check.configuration import check_settings
from neuron_emf.check.devices import CHECK as DEVICES
from neuron_emf.check.devices import check_devices
from neuron_emf.check.finding import Finding, not_needed, not_tried
from neuron_emf.check.identity import check_cluster, check_instance
from neuron_emf.check.kernel_log import check_kernel_log
from neuron_emf.check.monitor import CHECK as MONITOR
from neuron_emf.check.monitor import Heard, check_input, listen
from neuron_emf.check.outputs import check_output
from neuron_emf.check.spool import check_spool

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from emitter.instance.facts import InstanceFacts
    from neuron_emf.check.origin import Origin
    from neuron_emf.check.settings import CheckSettings
    from neuron_emf.printing import Advance


@dataclass(frozen=True, slots=True)
class Section:
    """Findings that belong together."""

    title: str
    findings: tuple[Finding, ...]


def run_checks(
    settings: CheckSettings,
    origins: Sequence[Origin],
    advance: Advance,
    *,
    clock: Callable[[], float] = time.time,
    sleep: Callable[[float], object] = time.sleep,
) -> list[Section]:
    """Every section in its order; *advance* hears how many of how many are done."""
    parts = 4
    asked = check_settings(settings, origins)
    sections = [Section("configuration", (asked.finding,))]
    advance(1, parts)
    heard = _heard(settings, asked.monitor)
    facts = find_instance()
    reports = (heard.finding, _devices(settings, heard, facts), check_input(settings))
    sections.append(Section("reports", reports))
    advance(2, parts)
    where = {one.name: one.where for one in origins}
    cluster, cluster_name = check_cluster(settings, where["cluster"])
    instance, instance_id = check_instance(settings, facts, heard.report)
    sections.append(Section("identity", (cluster, instance)))
    advance(3, parts)
    aws = AwsCourse(settings, facts.region, where["region"], clock=clock, sleep=sleep)
    access, groups, lines = aws.run(cluster_name, instance_id)
    sections += [
        Section("account", access),
        Section("log groups", groups),
        Section("one line", lines),
        Section(
            "this machine",
            (
                check_attribution(settings),
                check_kernel_log(settings),
                check_spool(settings),
                check_output(settings),
            ),
        ),
    ]
    advance(parts, parts)
    return sections


def _heard(settings: CheckSettings, monitor: str) -> Heard:
    if settings.input == START_MONITOR and not monitor:
        return Heard(not_tried(MONITOR, "the settings say nothing it could be asked for"))
    return listen(settings, monitor)


def _devices(settings: CheckSettings, heard: Heard, facts: InstanceFacts) -> Finding:
    if settings.input != START_MONITOR:
        return not_needed(DEVICES, "no report is read")
    info = heard.report.instance_info if heard.report is not None else None
    reported = info.instance_type if info is not None else None
    return check_devices(heard.report, reported or facts.instance_type)
