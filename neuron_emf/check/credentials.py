"""Which region, who asks, and what the time is there."""

from __future__ import annotations

from typing import Final

from neuron_emf.check.aws_client import (
    ACCESS,
    CREDENTIALS,
    SIGNATURE,
    UNREACHABLE,
    Answer,
    AwsClient,
)
from neuron_emf.check.result import CheckResult, failed, not_tried, ok, warning

CALLER: Final = "credentials"
CLOCK: Final = "clock"
MAX_SKEW_S: Final = 60.0

_POLICY: Final = "the stack's emitter policy (its output EmitterPolicyArn)"


def check_caller(aws: AwsClient) -> tuple[CheckResult, Answer]:
    """
    Whose credentials these are, and the answer, which has the account's number.

    Everybody may ask that; who cannot reach the service can still send lines.
    """
    answer = aws.ask("sts", "get_caller_identity")
    if not answer.reason:
        return ok(CALLER, str(answer.response.get("Arn", "")) or "known to AWS"), answer
    if answer.reason == CREDENTIALS:
        return failed(
            CALLER,
            f"AWS rejects this machine's credentials ({answer.words})",
            f"give the instance a role with {_POLICY}, renew the credentials, or set AWS_PROFILE",
        ), answer
    if answer.reason == SIGNATURE:
        return failed(
            CALLER,
            f"AWS rejects the signature ({answer.words})",
            "correct the clock of this machine, or the secret access key",
        ), answer
    if answer.reason == ACCESS:
        why, needs = f"{answer.action} is denied", "sending lines does not need it"
    elif answer.reason == UNREACHABLE:
        why, needs = "STS cannot be reached", "lines only go to CloudWatch Logs"
    else:
        why, needs = "STS returns an unexpected response", "lines only go to CloudWatch Logs"
    found = f"caller unknown: {why} ({answer.words})"
    return warning(CALLER, found, f"nothing, if the checks below are ok: {needs}"), answer


def check_clock(skew_s: float | None) -> CheckResult:
    """The clock of this machine beside the dates of AWS's answers."""
    if skew_s is None:
        return not_tried(CLOCK, "no AWS response had the time")
    apart = f"{abs(skew_s):.0f} s {'ahead of' if skew_s > 0 else 'behind'} AWS"
    if abs(skew_s) <= MAX_SKEW_S:
        return ok(CLOCK, f"within {MAX_SKEW_S:.0f} s of AWS time")
    return failed(
        CLOCK,
        f"the clock of this machine is {apart}, more than {MAX_SKEW_S:.0f} s",
        "synchronize it with chrony or systemd-timesyncd; on EC2 the server is 169.254.169.123",
    )
