"""
Check before a deployment what the Region or the account lacks for the stack. It only reads.

CloudFormation's registry shows what a Region offers: its schema of a type has the type's
properties. A Region may get a type or a property months after other Regions. If AWS does not answer
about a need of the deployment, the need is unknown, which is as bad as a failure.

The memory limit of a function is known only by the name of its quota. Service Quotas may not list
it, and new accounts were refused more than 3,008 MB; so a limit that cannot be read is a warning,
never ok. https://docs.aws.amazon.com/lambda/latest/dg/gettingstarted-limits.html
"""

from __future__ import annotations

import json
from dataclasses import replace
from typing import TYPE_CHECKING, Final

from neuron_emf.check.aws_client import (
    NO_LOG_GROUP,
    NOT_AUTHENTICATED,
    check_caller,
    connect,
    refused,
)
from neuron_emf.check.log_groups import check_extraction, find_log_group
from neuron_emf.check_results import (
    CHECK_UNKNOWN,
    CheckResult,
    failed,
    ok,
    section,
    unknown,
    warning,
)
from neuron_emf.cost.tariff import TABLES
from neuron_emf.deploy.stack import shard_steps, values_of
from neuron_emitter.errors import SettingsError
from neuron_words.quantity_words import counted

if TYPE_CHECKING:
    from neuron_emf.check.aws_client import Answer, AwsClient
    from neuron_emf.check.settings import CheckSettings
    from neuron_wire.line_members import JsonObject, Texts

NEW_ACCOUNT: Final = 10  # concurrent executions of an account that is new to Lambda
NEW_ACCOUNT_MB: Final = 3008  # of a function, in many accounts that are new to Lambda
DEFAULT_CLOSE_MB: Final = 512  # the default of CloseMemory
MEMORY_QUOTA: Final = "Function memory maximum"
MOST_FILTERS: Final = 5  # quota L-87E7D306, which cannot be raised

NEEDS: Final = TABLES["needs"]
"""Types and properties that the template uses and some Regions lack, by the check's name."""
YOUNG: Final = ("field indexes", "query parameters", "alarm warm-up")
# Outside the partition `aws` the template works without these; a test compares it.


def check_deployment(settings: CheckSettings) -> list[CheckResult]:
    """Check what a deployment with *settings*' Region, stack and log group needs."""
    aws = connect(settings, settings.region)
    try:
        region = ok(aws.region)
    except SettingsError as error:
        return section("account", {"region": failed(str(error), "use --region")})
    caller, answer = check_caller(aws)
    results = section("account", {"region": region, "credentials": caller})
    if answer.reason in NOT_AUTHENTICATED:
        return results
    has_young = aws.account.partition == "aws"
    needs = {
        name: check_need(aws, *need)
        for name, need in NEEDS.items()
        if has_young or name not in YOUNG
    }
    results += section("region", needs)
    limits = _limits(aws, settings.log_group, settings.stack_name)
    return [*results, *section("quotas and existing resources", limits)]


def _limits(aws: AwsClient, group: str, stack: str) -> dict[str, CheckResult]:
    """Return the checks of quotas, and of the resources that exist already."""
    answer = aws.ask("cloudformation", "describe_stacks", StackName=stack)
    if answer.reason and "does not exist" not in answer.words:
        return {"stack": _unknown(answer, stack)}
    parameters: Texts = {}
    for row in answer.response.get("Stacks", ()):
        parameters = values_of(row.get("Parameters", ()))
    return {
        "concurrency": check_concurrency(aws),
        "function memory": check_memory(aws, parameters),
        "log group": check_free_group(aws, group, is_deployed=bool(parameters)),
        "subscription filters": check_filters(aws, group, stack),
        "metric extraction": check_extraction(aws, [group, f"/neuron-emf/{stack}/rollups"]),
        "shards": check_shards(aws, stack, parameters),
    }


def check_need(aws: AwsClient, kind: str, member: str) -> CheckResult:
    """Check that CloudFormation knows property *member* of type *kind* in this Region."""
    answer = aws.ask("cloudformation", "describe_type", Type="RESOURCE", TypeName=kind)
    if answer.reason:
        if not answer.words.startswith("TypeNotFoundException"):
            return _unknown(answer, "*")
        known: JsonObject = {}
    else:
        try:
            known = json.loads(answer.response["Schema"])["properties"]
        except (KeyError, TypeError, ValueError):
            return unknown(f"the schema of {kind} cannot be read", "try again")
    if member in known:
        return ok(f"{kind} has {member}")
    lacks = f"{kind} has no {member} in this region"
    return failed(lacks, "deploy in another region")


def check_concurrency(aws: AwsClient) -> CheckResult:
    """Check how many concurrent invocations the account allows for all functions together."""
    answer = aws.ask("lambda", "get_account_settings")
    limit = answer.response.get("AccountLimit", {}).get("ConcurrentExecutions", 0)
    if not limit:
        return refused(answer, resource="*", otherwise="; the deployment does not need it")
    if limit > NEW_ACCOUNT:
        return ok(f"{limit} concurrent invocations in the account")
    return warning(
        f"{limit} concurrent invocations in the account: enough for a few hundred instances",
        "request an increase of Concurrent executions",
    )


def check_memory(aws: AwsClient, parameters: Texts) -> CheckResult:
    """Check that a function may have the `CloseMemory` of *parameters*, empty without a stack."""
    answer, quotas = aws.ask_all(
        "service-quotas", "list_service_quotas", "Quotas", ServiceCode="lambda"
    )
    if answer.reason:
        return refused(
            answer, resource="*", otherwise=f"; many new accounts have {NEW_ACCOUNT_MB} MB"
        )
    values = {quota.get("QuotaName"): quota.get("Value") for quota in quotas}
    most = int(values.get(MEMORY_QUOTA) or 0)
    if not most:
        return warning(
            f"unknown: Service Quotas has no {MEMORY_QUOTA}; many new accounts have "
            f"{NEW_ACCOUNT_MB} MB",
            f"ask AWS Support before setting CloseMemory above {NEW_ACCOUNT_MB}",
        )
    wanted = int(parameters.get("CloseMemory") or DEFAULT_CLOSE_MB)
    if wanted > most:
        return failed(
            f"the quota is {most} MB, but CloseMemory is {wanted}",
            f"request an increase of {MEMORY_QUOTA}",
        )
    return ok(f"the quota allows a CloseMemory of up to {most} MB")


def check_free_group(aws: AwsClient, group: str, *, is_deployed: bool) -> CheckResult:
    """Check that the stack can create its log group, or already has it."""
    answer, listed = find_log_group(aws, group)
    if answer.reason:
        return _unknown(answer, "*")
    if listed and not is_deployed:
        return warning(
            f"{group} already exists without a stack of this name: a deployment cannot create it",
            "deploy with AdoptLogGroup=true, or another LogGroupName",
        )
    return ok(f"{group} {'belongs to the stack' if listed else 'does not exist yet'}")


def check_filters(aws: AwsClient, group: str, stack_name: str) -> CheckResult:
    """Check that the group has room for the stack's subscription filter."""
    answer, filters = aws.ask_all(
        "logs", "describe_subscription_filters", "subscriptionFilters", logGroupName=group
    )
    if answer.reason == NO_LOG_GROUP:
        return ok(f"none, {group} does not exist")
    if answer.reason:
        return _unknown(answer, group)
    others = [row for row in filters if row.get("filterName") != f"{stack_name}-minutes"]
    sentence = f"{counted(len(others), 'other subscription filter')}, the maximum is {MOST_FILTERS}"
    if len(others) < MOST_FILTERS:
        return ok(sentence)
    return failed(sentence, "delete one that is not needed")


def check_shards(aws: AwsClient, stack_name: str, parameters: Texts) -> CheckResult:
    """Check which numbers of shards the next deployment can reach."""
    if parameters.get("Mode", "direct") == "direct":
        return ok("no stream yet: a new one can have any number")
    answer = aws.ask(
        "cloudformation",
        "describe_stack_resource",
        StackName=stack_name,
        LogicalResourceId="RecordsStream",
    )
    stream = answer.response.get("StackResourceDetail", {}).get("PhysicalResourceId", "")
    if not answer.reason:
        answer = aws.ask("kinesis", "describe_stream_summary", StreamName=stream)
    now = answer.response.get("StreamDescriptionSummary", {}).get("OpenShardCount", 0)
    if not now:
        return _unknown(answer, "the stream")
    double = ", ".join(map(str, shard_steps(now, 5 * now)))
    return ok(
        f"{now} open: the next deployment reaches {(now + 1) // 2} to {2 * now}, "
        f"and {5 * now} are reached by {double}"
    )


def _unknown(answer: Answer, resource: str) -> CheckResult:
    """Return that *answer* has nothing about *resource*, which the deployment needs."""
    result = refused(answer, resource=resource, otherwise="; the deployment will show")
    return replace(result, state=CHECK_UNKNOWN)
