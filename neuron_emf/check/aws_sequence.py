"""
The checks that ask AWS: who asks, the log groups, one line.

Where lines go elsewhere nothing is asked. After the first failure that makes
the others certain to fail, they are not tried.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.errors import EmitterError, SettingsError
from emitter.settings.run import LOGS
from neuron_emf.check import extraction, probe
from neuron_emf.check.aws_client import MISSING, NOBODY, UNREACHABLE, AwsClient
from neuron_emf.check.credentials import CALLER, CLOCK, check_caller, check_clock
from neuron_emf.check.log_groups import (
    CLASS,
    SUBSCRIPTION,
    LogTarget,
    account_of,
    check_group,
    check_subscription,
)
from neuron_emf.check.result import (
    FAILED,
    OK,
    CheckResult,
    CheckSection,
    failed,
    not_needed,
    not_tried,
    ok,
)
from neuron_emf.check.settings import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from neuron_emf.check.settings import CheckSettings

REGION: Final = "region"
GROUP: Final = "log group"
ROLLUPS_GROUP: Final = "rollups log group"

_ROLLUPS: Final = (ROLLUPS_GROUP, f"{ROLLUPS_GROUP} {CLASS}")
_SECTIONS: Final = {
    "account": (REGION, CALLER, CLOCK),
    "log groups": (GROUP, f"{GROUP} {CLASS}", *_ROLLUPS, extraction.CHECK, SUBSCRIPTION),
    "one line": (probe.STREAM, probe.PUT, probe.READ),
}
_ENDS: Final = (". ", "; ", ": ")  # of what went wrong in an error, the clearest first
_NO_PROFILE: Final = "ProfileNotFound"  # of the SDK, which reads a region out of a profile
_NO_METRICS: Final = "none"
_DEPLOY: Final = "deploy the stack there, or correct --log-group and --region"
_DEPLOY_STACK: Final = "deploy the stack there, or name it with --stack-name ('' for none)"


@dataclass(frozen=True, slots=True)
class AwsSequence:
    """
    One run through the checks that ask AWS.

    Attributes:
        settings: They say where.

        instance_region: Where this machine is, for settings that say nothing.

        region_origin: Where the setting of the region comes from.

        waiting: Hears which share of the wait for the line is over.
    """

    settings: CheckSettings
    instance_region: str | None
    region_origin: str
    waiting: Callable[[float], None] = lambda _: None

    def run(self, cluster: str, instance_id: str) -> list[CheckSection]:
        """What was found of the account, of its log groups, of the line."""
        if self.settings.output != LOGS:
            return _sections((), not_needed, f"lines go to {self.settings.output}")
        try:
            aws, region = self._reached()
        except EmitterError as error:
            return _sections([_nowhere(error)], not_tried, "the region is unknown")
        results, why = self._asked(aws, cluster, instance_id)
        return _sections([region, check_clock(aws.skew_s), *results], not_tried, why)

    def _reached(self) -> tuple[AwsClient, CheckResult]:
        """
        The way to the account, and where its region comes from.

        Raises:
            EmitterError: If the region is unknown, or no rehearsal runs.
        """
        aws = AwsClient(self.settings.account(self.settings.region))
        where = "the AWS SDK" if self.region_origin == DEFAULT else self.region_origin
        if aws.account.is_rehearsal:
            where = "the rehearsal"
        try:
            name = aws.region
        except SettingsError:
            if not self.instance_region:
                raise
            aws = AwsClient(self.settings.account(self.instance_region))
            name, where = aws.region, "the instance metadata"
        return aws, ok(REGION, f"{name}, from {where}")

    def _asked(
        self, aws: AwsClient, cluster: str, instance_id: str
    ) -> tuple[list[CheckResult], str]:
        """What AWS said, and why the checks that are missing here were not tried."""
        caller, answer = check_caller(aws)
        if answer.reason in NOBODY:
            return [caller], "AWS rejects the credentials"
        target = LogTarget(
            aws.region,
            aws.account.log_group,
            aws.account.rollups_log_group if self.settings.stack_name else "",
            aws.account.stack_name,
            *account_of(answer),
        )
        group, reason = check_group(aws, target, target.group, GROUP, deploys=_DEPLOY)
        results = [caller, *group]
        if reason in {UNREACHABLE, *NOBODY}:
            return results, "CloudWatch Logs did not answer"
        results += [*self._rollups(aws, target), self._extraction(aws, target)]
        if reason == MISSING:
            return results, "there is no log group"
        if group[1].state != FAILED:
            results.append(check_subscription(aws, target))
        else:
            results.append(not_tried(SUBSCRIPTION, "a log group of this class has none"))
        now_ms = round(time.time() * 1000)
        line = probe.probe_line(cluster, instance_id, now_ms)
        line_probe = probe.Probe(aws, target, instance_id, now_ms=now_ms)
        stream = line_probe.make_stream()
        put = line_probe.put(line, has_stream=stream.state != FAILED)
        results += [stream, put]
        if put.state != OK:
            return results, "no line was accepted"
        if group[1].state == FAILED:
            return results, "a log group of this class cannot be read back"
        return [*results, line_probe.read_back(line, self.waiting)], ""

    def _rollups(self, aws: AwsClient, target: LogTarget) -> list[CheckResult]:
        if not target.rollups_group:
            return [not_needed(check, "without a stack there are no rollups") for check in _ROLLUPS]
        name = target.rollups_group
        return check_group(aws, target, name, ROLLUPS_GROUP, deploys=_DEPLOY_STACK)[0]

    def _extraction(self, aws: AwsClient, target: LogTarget) -> CheckResult:
        if self.settings.rehearsal:
            return not_needed(extraction.CHECK, "the embedded AWS has no account policies")
        groups = [target.rollups_group] if target.rollups_group else []
        if self.settings.metrics != _NO_METRICS:
            groups.insert(0, target.group)
        if not groups:
            return not_needed(extraction.CHECK, "lines define no metrics")
        return extraction.check_extraction(aws, groups)


def _nowhere(error: EmitterError) -> CheckResult:
    said = str(error)
    # What to do comes last.
    found, _, advice = said.rstrip(".").rpartition(max(_ENDS, key=said.rfind))
    if type(error.__cause__).__name__ == _NO_PROFILE:
        advice = "correct AWS_PROFILE, or unset it"
    return failed(REGION, found, advice)


def _sections(
    results: Iterable[CheckResult], rest: Callable[[str, str], CheckResult], why: str
) -> list[CheckSection]:
    """The *results* in their sections, and of every other check that it has *rest* as its state."""
    by_check = {result.check: result for result in results}
    return [
        CheckSection(title, tuple(by_check.get(check) or rest(check, why) for check in checks))
        for title, checks in _SECTIONS.items()
    ]
