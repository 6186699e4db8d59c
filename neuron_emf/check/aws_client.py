"""
One call to AWS, and the meaning of its answer.

An answer is a value, never an exception; the emitter's own table,
`neuron_emitter.delivery.aws_failures`, classifies errors. The Date header of every answer,
including a refusal, shows the time at AWS.
"""

from __future__ import annotations

import functools
import time
from dataclasses import dataclass, field
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING, Final

from neuron_emf.account import account, error_code, is_refusal, refusal_cause, words_of
from neuron_emf.check_results import CheckResult, failed, not_tried, ok, warning
from neuron_emf.command_options import AccountSettings
from neuron_emitter.delivery.aws_failures import PROXY_ADVICE, access_advice, bounded

if TYPE_CHECKING:
    from neuron_emf.account import Account
    from neuron_emf.check.settings import CheckSettings
    from neuron_wire.line_members import JsonObject

ACCESS: Final = "access"
CREDENTIALS_REJECTED: Final = "credentials"
EXPIRED: Final = "expired"
NO_LOG_GROUP: Final = "missing"
NO_CREDENTIALS: Final = "no_credentials"
PROXY_ERROR: Final = "proxy"
CALL_REFUSED: Final = "refused"
SIGNATURE: Final = "signature"
NOT_AUTHENTICATED: Final = {
    NO_CREDENTIALS: "no AWS credentials are found",
    EXPIRED: "the AWS credentials expired",
    CREDENTIALS_REJECTED: "AWS rejects the credentials",
    SIGNATURE: "AWS rejects the signature",
}
"""Reasons for which AWS does not know the caller, so that it would also refuse every other call."""

UNREACHABLE: Final = "no_connection"
MAX_PAGES: Final = 100
MAX_SKEW_S: Final = 60.0

BIND_ROLE: Final = "bind the emitter policy to the role: neuron-emf deploy --bind-role ROLE"
TOKENS: Final = ("nextToken", "NextToken")  # the token of the next page, as each service names it
_CLIENT_ADVICE: Final = {
    NO_CREDENTIALS: f"set AWS_PROFILE, or give the instance a role; {BIND_ROLE}",
    EXPIRED: "renew the credentials, or give the instance a role",
    CREDENTIALS_REJECTED: "correct the access key, or give the instance a role",
    SIGNATURE: "correct the clock of this machine, or the secret access key",
}


@dataclass(frozen=True, slots=True)
class Answer:
    """
    The answer of one call.

    Attributes:
        action: The called action as a policy names it, such as `logs:PutLogEvents`.

        response: AWS's response, empty for a refusal.

        reason: The reason of a failure, one of a few words such as `access`; empty for a success.

        words: The message of AWS or its SDK, shortened.
    """

    action: str
    response: JsonObject = field(default_factory=dict)
    reason: str = ""
    words: str = ""


class AwsClient:
    """
    The clients of one account, and the difference between its clock and ours.

    Attributes:
        skew_s: This machine's clock minus AWS's, at the last answer that had a
            date; None before the first.

        caller: Partition and account number; `*` while the number is not known.
    """

    def __init__(self, account: Account) -> None:
        self.skew_s: float | None = None
        self.account = account
        self.caller = "aws", "*"
        self._client = functools.cache(account.client)

    @property
    def region(self) -> str:
        """
        Return the Region of CloudWatch Logs.

        Raises:
            SettingsError: If no region is known.
        """
        return str(self._client("logs").meta.region_name)

    def arn(self, group: str = "*") -> str:
        """Return the ARN for a policy; for actions that list groups by prefix, all of them."""
        partition, number = self.caller
        return f"arn:{partition}:logs:{self.region}:{number}:log-group:{group}"

    def ask(self, service: str, operation: str, **parameters: object) -> Answer:
        """
        Call *operation*, such as `put_log_events`, of *service*.

        Raises:
            SettingsError: If no region is known.
        """
        name = "".join(word.title() for word in operation.split("_"))
        action = f"{service.replace('-', '')}:{name}"  # as policies write it
        call = getattr(self._client(service), operation)
        try:
            response: JsonObject = call(**parameters)
        except Exception as error:
            if not is_refusal(error):
                raise
            return self._refusal(error, action)
        self._compare_clocks(response)
        return Answer(action, response)

    def ask_all(
        self, service: str, operation: str, member: str, **parameters: object
    ) -> tuple[Answer, list[JsonObject]]:
        """Return the last answer, and the entries of *member* in all pages until then."""
        answer = Answer("")
        entries: list[JsonObject] = []
        token: JsonObject = {}
        for _ in range(MAX_PAGES):
            answer = self.ask(service, operation, **parameters, **token)
            entries += answer.response.get(member, ())
            token = {name: answer.response[name] for name in TOKENS if answer.response.get(name)}
            if not token:
                break
        return answer, entries

    def _refusal(self, error: Exception, action: str) -> Answer:
        self._compare_clocks(getattr(error, "response", None) or {})
        code = error_code(error)
        words = words_of(error)
        reason = refusal_cause(error) or CALL_REFUSED
        if reason == CREDENTIALS_REJECTED and not code:  # the SDK's own error: AWS was not called
            reason = NO_CREDENTIALS
        detail = ": ".join(filter(None, (code, words)))
        return Answer(action, reason=reason, words=bounded(detail))

    def _compare_clocks(self, response: JsonObject) -> None:
        date = response.get("ResponseMetadata", {}).get("HTTPHeaders", {}).get("date")
        try:
            self.skew_s = time.time() - parsedate_to_datetime(date).timestamp()
        except (TypeError, ValueError, OverflowError):
            return


def connect(settings: CheckSettings, region: str | None) -> AwsClient:
    """
    Return a client for the stack, in *region* or the Region that the AWS SDK finds.

    Raises:
        SourceError: If a rehearsal is asked for and none runs on this machine.
    """
    stack = AccountSettings(
        stack_name=settings.stack_name,
        log_group=settings.log_group,
        region=region,
        rehearsal=settings.rehearsal,
    )
    return AwsClient(account(stack))


def unanswered(answer: Answer, resource: str, otherwise: str) -> CheckResult:
    """Return a warning that *answer* has nothing about *resource*; *otherwise* ends the advice."""
    if answer.reason == ACCESS:
        advice = f"allow {answer.action} in your IAM policy{otherwise}"
        return warning(
            f"unknown: {answer.action} on {resource} is denied", refusal_advice(answer, advice)
        )
    sentence = f"unknown: AWS did not answer {answer.action} ({answer.words})"
    return warning(sentence, refusal_advice(answer, "try again"))


def refusal_advice(answer: Answer, otherwise: str = "") -> str:
    """Return the advice for a denied call from AWS's words, or for a proxy, or *otherwise*."""
    advice = otherwise
    if answer.reason == ACCESS:
        advice = access_advice(answer.words, otherwise)
    elif answer.reason == PROXY_ERROR:
        advice = PROXY_ADVICE
    # The form of check results has no capital and no period.
    return f"{advice[:1].lower()}{advice[1:].rstrip('.')}"


def not_authenticated(answer: Answer) -> CheckResult:
    """Return the failure for *answer*, whose reason is one of `NOT_AUTHENTICATED`."""
    sentence = f"{NOT_AUTHENTICATED[answer.reason]} ({answer.words})"
    return failed(sentence, _CLIENT_ADVICE[answer.reason])


def check_caller(aws: AwsClient) -> tuple[CheckResult, Answer]:
    """
    Return whose credentials these are, and the answer with the account's number.

    Every caller may ask this. A caller that cannot reach the service may still be able to send
    lines.
    """
    answer = aws.ask("sts", "get_caller_identity")
    if not answer.reason:
        arn, number = (str(answer.response.get(name, "")) for name in ("Arn", "Account"))
        aws.caller = arn.split(":")[1] if ":" in arn else "aws", number or "*"
        return ok(arn or "known to AWS"), answer
    if answer.reason in NOT_AUTHENTICATED:
        return not_authenticated(answer), answer
    if answer.reason == ACCESS:
        why = f"{answer.action} is denied"
        needs = "sending lines does not need it"
    elif answer.reason == UNREACHABLE:
        why = "STS cannot be reached"
        needs = "lines only go to CloudWatch Logs"
    else:
        why = "STS returns an unexpected response"
        needs = "lines only go to CloudWatch Logs"
    sentence = f"caller unknown: {why} ({answer.words})"
    return warning(sentence, f"nothing, if the checks below are ok: {needs}"), answer


def check_clock(skew_s: float | None) -> CheckResult:
    """Compare this machine's clock with the dates of AWS's answers."""
    if skew_s is None:
        return not_tried("no AWS response contained the time")
    apart = f"{abs(skew_s):.0f} s {'ahead of' if skew_s > 0 else 'behind'} AWS"
    if abs(skew_s) <= MAX_SKEW_S:
        return ok(f"within {MAX_SKEW_S:.0f} s of AWS time")
    return failed(
        f"the clock of this machine is {apart}, more than {MAX_SKEW_S:.0f} s",
        "synchronize it with chrony or systemd-timesyncd; on EC2 the server is 169.254.169.123",
    )
