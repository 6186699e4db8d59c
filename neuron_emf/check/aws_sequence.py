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
from neuron_emf.account import AccountSettings, account
from neuron_emf.check import extraction, probe, subscription
from neuron_emf.check.aws_client import NOBODY, UNREACHABLE, AwsClient
from neuron_emf.check.credentials import CALLER, CLOCK, check_caller, check_clock
from neuron_emf.check.log_groups import CLASS, GroupCheck, LogTarget, account_of, check_group
from neuron_emf.check.result import FAILED, OK, CheckResult, failed, not_needed, not_tried, ok
from neuron_emf.check.settings import DEFAULT

if TYPE_CHECKING:
    from collections.abc import Callable

    from neuron_emf.account import Account
    from neuron_emf.check.settings import CheckSettings

REGION: Final = "region"
GROUP: Final = "log group"
ROLLUPS_GROUP: Final = "rollups log group"

Results = tuple[CheckResult, ...]

_ACCESS: Final = (REGION, CALLER, CLOCK)
_GROUPS: Final = (
    GROUP,
    f"{GROUP} {CLASS}",
    ROLLUPS_GROUP,
    f"{ROLLUPS_GROUP} {CLASS}",
    extraction.CHECK,
    subscription.CHECK,
)
_LINES: Final = (probe.STREAM, probe.PUT, probe.READ)
_NO_PROFILE: Final = "ProfileNotFound"  # of the SDK, which reads a region out of a profile
_NO_METRICS: Final = "none"
_DEPLOY: Final = "deploy the stack there, or correct --log-group and --region"
_DEPLOY_STACK: Final = (
    "deploy the stack there, or name it with --stack-name; '' says that there is none"
)


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

    def run(self, cluster: str, instance_id: str) -> tuple[Results, Results, Results]:
        """What was found of the account, of its log groups, of the line."""
        if self.settings.output != LOGS:
            why = f"lines go to {self.settings.output}"
            return _each(not_needed, _ACCESS, why), *_rest(not_needed, why)
        try:
            aws_account, aws, region = self._reached()
        except EmitterError as error:
            return (_nowhere(error), *_each(not_tried, _ACCESS[1:], "no region is known")), *_rest(
                not_tried, "no region is known"
            )
        caller, answer = check_caller(aws)
        if answer.reason in NOBODY:
            groups, lines = _rest(not_tried, "AWS does not know who asks")
        else:
            target = LogTarget(
                aws.region,
                aws_account.log_group,
                aws_account.rollups_log_group if self.settings.stack_name else "",
                aws_account.stack_name,
                *account_of(answer),
            )
            groups, lines = self._groups_and_line(aws, target, cluster, instance_id)
        return (region, caller, check_clock(aws.skew_s)), groups, lines

    def _reached(self) -> tuple[Account, AwsClient, CheckResult]:
        """
        The account, the way to it, and where its region comes from.

        Raises:
            EmitterError: If no region is known, or no rehearsal runs.
        """
        aws_account = self._account(self.settings.region)
        aws = AwsClient(aws_account)
        where = "the AWS SDK" if self.region_origin == DEFAULT else self.region_origin
        if aws_account.is_rehearsal:
            where = "the rehearsal"
        try:
            name = aws.region
        except SettingsError:
            if not self.instance_region:
                raise
            aws_account = self._account(self.instance_region)
            aws = AwsClient(aws_account)
            name, where = aws.region, "the instance metadata"
        return aws_account, aws, ok(REGION, f"{name}, from {where}")

    def _account(self, region: str | None) -> Account:
        settings = self.settings
        return account(
            AccountSettings(
                stack_name=settings.stack_name,
                log_group=settings.log_group,
                region=region,
                rehearsal=settings.rehearsal,
            )
        )

    def _groups_and_line(
        self, aws: AwsClient, target: LogTarget, cluster: str, instance_id: str
    ) -> tuple[Results, Results]:
        records = check_group(aws, target, target.group, GROUP, deploys=_DEPLOY)
        if records.reason in {UNREACHABLE, *NOBODY}:
            why = "CloudWatch Logs gave no answer"
            groups, lines = _rest(not_tried, why)
            return (*records.results, *groups[2:]), lines
        rollups = self._rollups(aws, target)
        groups = (
            *records.results,
            *rollups.results,
            self._extraction(aws, target),
            self._subscription(aws, target, records),
        )
        if records.is_missing:
            return groups, _each(not_tried, _LINES, "there is no log group")
        is_standard = records.results[1].state != FAILED
        return groups, self._line(aws, target, cluster, instance_id, is_standard=is_standard)

    def _rollups(self, aws: AwsClient, target: LogTarget) -> GroupCheck:
        if not target.rollups_group:
            why = "without a stack there are no rollups"
            return GroupCheck(
                (not_needed(ROLLUPS_GROUP, why), not_needed(f"{ROLLUPS_GROUP} {CLASS}", why))
            )
        return check_group(aws, target, target.rollups_group, ROLLUPS_GROUP, deploys=_DEPLOY_STACK)

    def _subscription(self, aws: AwsClient, target: LogTarget, records: GroupCheck) -> CheckResult:
        if records.is_missing:
            return not_tried(subscription.CHECK, "there is no log group")
        if records.results[1].state == FAILED:
            return not_tried(subscription.CHECK, "a group of this class has none")
        return subscription.check_subscription(aws, target)

    def _extraction(self, aws: AwsClient, target: LogTarget) -> CheckResult:
        if self.settings.rehearsal:
            return not_needed(extraction.CHECK, "the embedded AWS has no account policies")
        groups = [target.rollups_group] if target.rollups_group else []
        if self.settings.metrics != _NO_METRICS:
            groups.insert(0, target.group)
        if not groups:
            return not_needed(extraction.CHECK, "no line defines a metric")
        return extraction.check_extraction(aws, groups)

    def _line(
        self,
        aws: AwsClient,
        target: LogTarget,
        cluster: str,
        instance_id: str,
        *,
        is_standard: bool,
    ) -> Results:
        now_ms = round(time.time() * 1000)
        line = probe.probe_line(cluster, instance_id, now_ms)
        line_probe = probe.Probe(aws, target, instance_id, now_ms=now_ms)
        stream = line_probe.make_stream()
        put = line_probe.put(line, has_stream=stream.state != FAILED)
        if put.state != OK:
            return stream, put, not_tried(probe.READ, "no line was taken")
        if not is_standard:
            return stream, put, not_tried(probe.READ, "a group of this class gives no line back")
        return stream, put, line_probe.read_back(line, self.waiting)


def _nowhere(error: EmitterError) -> CheckResult:
    said = str(error)
    # What to do stands at the end of the sentence.
    found, _, advice = said.rstrip(".").rpartition(". " if ". " in said else "; ")
    if type(error.__cause__).__name__ == _NO_PROFILE:
        advice = "set AWS_PROFILE to one that is there, or unset it"
    return failed(REGION, found, advice)


def _each(state: Callable[[str, str], CheckResult], checks: tuple[str, ...], why: str) -> Results:
    return tuple(state(check, why) for check in checks)


def _rest(state: Callable[[str, str], CheckResult], why: str) -> tuple[Results, Results]:
    return _each(state, _GROUPS, why), _each(state, _LINES, why)
