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
from neuron_emf.check_results import CheckResult, failed, not_tried, ok
from neuron_emf.command_options import AccountSettings
from neuron_emf.cost.tariff import TABLES
from neuron_emitter.delivery.aws_failures import PROXY_ADVICE, access_advice, bounded

if TYPE_CHECKING:
    from neuron_emf.account import Account
    from neuron_emf.check.settings import CheckSettings
    from neuron_wire.line_members import JsonObject

ACCESS: Final = "access"
CREDENTIALS_REJECTED: Final = "credentials"
NO_LOG_GROUP: Final = "missing"
NO_CREDENTIALS: Final = "no_credentials"
PROXY_ERROR: Final = "proxy"
UNREACHABLE: Final = "no_connection"
CALL_REFUSED: Final = "refused"
MAX_PAGES: Final = 100
MAX_SKEW_S: Final = 60.0

TOKENS: Final = ("nextToken", "NextToken")  # the token of the next page, as each service names it
NOT_AUTHENTICATED: Final = TABLES["identity"]
"""A sentence and advice by each reason for which AWS does not know the caller."""

_REFUSALS: Final = TABLES["refusals"]
_FINAL_ADVICE: Final = frozenset({"caller", "read"})
"""Steps whose advice does not depend on AWS's words or a proxy."""


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


def refused(answer: Answer, step: str = "any", **values: str) -> CheckResult:
    """
    Return the result of *step* for *answer*, which has no response to use.

    The texts are those of the table for its reason; *values* fill their gaps.
    """
    rows = {**_REFUSALS["any"], **_REFUSALS[step]}
    values |= {"action": answer.action, "reason": answer.reason, "words": answer.words}
    texts = rows.get(answer.reason, rows["otherwise"])
    state, found, advice = (text.format(**values) for text in texts)
    if step not in _FINAL_ADVICE:
        if answer.reason == ACCESS:
            advice = access_advice(answer.words, advice)
        elif answer.reason == PROXY_ERROR:
            advice = PROXY_ADVICE
    # The form of check results has no capital and no period.
    return CheckResult(state, found, f"{advice[:1].lower()}{advice[1:].rstrip('.')}")


def not_authenticated(answer: Answer) -> CheckResult:
    """Return the failure for *answer*, whose reason is one of `NOT_AUTHENTICATED`."""
    sentence, advice = NOT_AUTHENTICATED[answer.reason]
    return failed(f"{sentence} ({answer.words})", advice)


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
    return refused(answer, "caller"), answer


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
