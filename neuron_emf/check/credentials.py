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
    arn = str(answer.response.get("Arn", ""))
    if not answer.reason:
        return ok(CALLER, arn or "known to AWS"), answer
    return _unknown(answer), answer


def _unknown(answer: Answer) -> CheckResult:
    if answer.reason == CREDENTIALS:
        return failed(
            CALLER,
            f"AWS takes none of this machine's credentials ({answer.words})",
            f"give the instance a role with {_POLICY}, renew the credentials, or set AWS_PROFILE",
        )
    if answer.reason == SIGNATURE:
        return failed(
            CALLER,
            f"AWS does not accept the signature ({answer.words})",
            "set the clock of this machine right, or the secret access key",
        )
    if answer.reason == ACCESS:
        return warning(
            CALLER,
            f"who asks is not told: {answer.action} is denied ({answer.words})",
            "nothing, if the checks below are ok: lines need no such permission",
        )
    where = "cannot be reached" if answer.reason == UNREACHABLE else "does not answer as it should"
    return warning(
        CALLER,
        f"who asks is not known: the service STS {where} ({answer.words})",
        "nothing, if the checks below are ok: lines go to CloudWatch Logs alone",
    )


def check_clock(skew_s: float | None) -> CheckResult:
    """The clock of this machine beside the dates of AWS's answers."""
    if skew_s is None:
        return not_tried(CLOCK, "no answer of AWS told the time")
    apart = f"{abs(skew_s):.0f} s {'ahead of' if skew_s > 0 else 'behind'} that of AWS"
    if abs(skew_s) <= MAX_SKEW_S:
        return ok(CLOCK, f"within {MAX_SKEW_S:.0f} s of that of AWS")
    return failed(
        CLOCK,
        f"the clock of this machine is {apart}, and {MAX_SKEW_S:.0f} s are allowed",
        "let chrony or systemd-timesyncd set it, with 169.254.169.123 as its server on EC2",
    )
