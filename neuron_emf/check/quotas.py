"""
What Lambda allows the account: invocations at a time, and memory of a function.

The memory is known by the name of its quota alone. Service Quotas may not list
it, and a new account has been refused more than 3,008 MB all the same; so what
is not read is a warning that says so, never ok.
https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from neuron_emf.check.aws_client import unknown
from neuron_emf.check.result import CheckResult, failed, ok, warning

if TYPE_CHECKING:
    from collections.abc import Mapping

    from neuron_emf.check.aws_client import AwsClient

CONCURRENCY: Final = "concurrency"
MEMORY: Final = "function memory"

NEW_ACCOUNT: Final = 10  # concurrent executions of an account that is new to Lambda
NEW_ACCOUNT_MB: Final = 3008  # of a function, in many accounts that are new to Lambda
CLOSE_MB: Final = 1769  # default of CloseMemory
MEMORY_QUOTA: Final = "Function memory maximum"


def check_concurrency(aws: AwsClient) -> CheckResult:
    """How many invocations the account allows at a time, for all functions together."""
    answer = aws.ask("lambda", "get_account_settings")
    limit = answer.response.get("AccountLimit", {}).get("ConcurrentExecutions")
    if answer.reason or not isinstance(limit, int):
        return unknown(CONCURRENCY, answer, "*", "; the deployment does not need it")
    if limit > NEW_ACCOUNT:
        return ok(CONCURRENCY, f"{limit} concurrent invocations in the account")
    return warning(
        CONCURRENCY,
        f"{limit} concurrent invocations in the account: enough for a few hundred instances",
        "request an increase of Concurrent executions, and reserve none",
    )


def check_memory(aws: AwsClient, parameters: Mapping[str, str] | None) -> CheckResult:
    """Whether a function may have the `CloseMemory` of *parameters*; None is no stack yet."""
    answer, quotas = aws.ask_all(
        "service-quotas", "list_service_quotas", "Quotas", ServiceCode="lambda"
    )
    if answer.reason:
        return unknown(MEMORY, answer, "*", f"; many new accounts have {NEW_ACCOUNT_MB} MB")
    values = [one.get("Value") for one in quotas if one.get("QuotaName") == MEMORY_QUOTA]
    if len(values) != 1 or not isinstance(values[0], (int, float)):
        return warning(
            MEMORY,
            f"not known: Service Quotas has no {MEMORY_QUOTA}; many new accounts have "
            f"{NEW_ACCOUNT_MB} MB",
            f"ask AWS Support before setting CloseMemory above {NEW_ACCOUNT_MB}",
        )
    most, wanted = int(values[0]), int((parameters or {}).get("CloseMemory") or CLOSE_MB)
    if wanted > most:
        return failed(
            MEMORY,
            f"the quota is {most} MB, but CloseMemory is {wanted}",
            f"request an increase of {MEMORY_QUOTA}",
        )
    return ok(MEMORY, f"the quota allows a CloseMemory of up to {most} MB")
