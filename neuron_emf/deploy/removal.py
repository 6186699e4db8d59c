"""
The removal of a stack: what is deleted, what stays and costs, and the bucket of releases.

Resources that the stack adopted are never touched. Roles lose the emitter policy first, because IAM
deletes no policy that is attached. Releases are deleted if no other stack of neuron-emf in the
Region has functions. A stack that is not deployed yet has no parameters, so it counts as a stack of
neuron-emf.
"""

from __future__ import annotations

from collections import Counter
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

import click
from rich.table import Table
from rich.text import Text

from neuron_emf.account import documented, error_code, rows_of
from neuron_emf.command_output import UNKNOWN_CELL
from neuron_emf.cost.tariff import GB, listed
from neuron_emf.deploy.change_set import STORES
from neuron_emf.deploy.package import BUCKET_STACK_NAME, ReleaseBucket, bucket_of
from neuron_emf.deploy.plan import resource_table
from neuron_emf.deploy.stack import (
    NEW,
    OF_FUNCTIONS,
    Stack,
    delete_stack,
    require_usable,
    values_of,
)
from neuron_emitter.errors import SettingsError, SourceError
from neuron_words.quantity_words import dollars

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from rich.console import RenderableType

    from neuron_emf.account import Account
    from neuron_wire.line_members import JsonObject, Texts

RETAINED_RESOURCES: Final = frozenset({"LedgerBucket", "RecordsLogGroup"})
"""Logical IDs of resources that outlive their stack."""

_OWN: Final = "AdoptLogGroup"
"""A parameter of every stack of neuron-emf."""

_EMITTER_POLICY_ID: Final = "EmitterPolicy"
_ADOPTED: Final = ("AlarmTopicArn", "BillTable", "DigestTopicArn", "KmsKeyArn")
"""Parameters that name a resource which the stack uses and did not create."""


@dataclass(frozen=True, slots=True)
class Removal:
    """
    The effects of a removal.

    Attributes:
        name: Name of the stack.

        parameters: Parameters of the stack; empty if only releases are left.

        resources: The resources of the stack as CloudFormation lists them, by logical ID.

        roles: Roles that have the emitter policy.

        bucket: The bucket of releases; None if there is none.

        users: Why the bucket stays; empty if it is deleted.
    """

    name: str
    parameters: Texts
    resources: Mapping[str, Texts]
    roles: list[str]
    bucket: ReleaseBucket | None
    users: str

    def physical_id(self, logical_id: str) -> str:
        """Return the name or ARN of a resource; empty if the stack has no such resource."""
        return self.resources.get(logical_id, {}).get("PhysicalResourceId", "")


def read_removal(account: Account, name: str) -> Removal:
    """
    Read the effects of removing the stack *name*.

    Raises:
        SettingsError: If there is no such stack, or it is not to be deleted.
        SourceError: If AWS refuses, or an operation on the stack is in progress.
    """
    cloudformation = account.client("cloudformation")
    stack = Stack.describe(cloudformation, name)
    bucket, users = _releases(account, cloudformation, name)
    if not stack.status:
        if bucket is None or users:
            region = cloudformation.meta.region_name
            msg = f"{region} has no stack {name}. Check --stack-name and --region."
            raise SettingsError(msg)
        return Removal(name, {}, {}, [], bucket, users)
    _require_deletable(stack)
    with documented("cloudformation:ListStackResources"):
        listed_resources = rows_of(
            cloudformation, "list_stack_resources", "StackResourceSummaries", StackName=name
        )
        rows = {
            row["LogicalResourceId"]: row
            for row in listed_resources
            if row["ResourceStatus"] != "DELETE_COMPLETE"
        }
    removal = Removal(name, stack.parameters, rows, [], bucket, users)
    if policy := removal.physical_id(_EMITTER_POLICY_ID):
        iam = account.client("iam")
        with documented("iam:ListEntitiesForPolicy"):
            try:
                roles = rows_of(iam, "list_entities_for_policy", "PolicyRoles", PolicyArn=policy)
                removal.roles.extend(row["RoleName"] for row in roles)
            except Exception as error:
                if error_code(error) != "NoSuchEntity":  # deleted without the stack
                    raise
    return removal


def removal_listing(account: Account, removal: Removal) -> Iterator[RenderableType]:
    """Yield tables of what is deleted and what stays, for a person."""
    gone = [row for name, row in removal.resources.items() if name not in RETAINED_RESOURCES]
    yield resource_table(Counter(row["ResourceType"] for row in gone), "Goes")
    stores = [row.get("PhysicalResourceId", "") for row in gone if row["ResourceType"] in STORES]
    if stores:
        yield Text(f"These store data that will be lost: {', '.join(stores)}", "bold red")
    if removal.roles:
        yield f"These roles lose the emitter policy and cannot send: {', '.join(removal.roles)}"
    table = Table("what", "name", "USD a month", "why", title="Stays", title_justify="left")
    for row in _remainders(account, removal):
        table.add_row(row[0], Text(row[1], overflow="fold"), *row[2:])
    if removal.bucket is not None and removal.users:
        table.add_row("releases", removal.bucket.name, "", removal.users)
    elif removal.bucket is not None:
        name = removal.bucket.name
        yield f"The stack {BUCKET_STACK_NAME} is deleted too, with all releases in {name}"
    yield table
    yield f"List prices of {listed().region}, {listed().as_of}"


def remove(account: Account, removal: Removal, request: JsonObject) -> None:
    """
    Detach the roles, delete the stack, then the releases unless another stack was created.

    *request* optionally has `RoleARN`.

    Raises:
        SourceError: If AWS refuses, or the deletion fails.
        SettingsError: If the bucket has objects that are not releases.
    """
    cloudformation = account.client("cloudformation")
    policy = removal.physical_id(_EMITTER_POLICY_ID)
    for role in removal.roles:
        with documented("iam:DetachRolePolicy"):
            account.client("iam").detach_role_policy(RoleName=role, PolicyArn=policy)
    if removal.parameters:
        delete_stack(cloudformation, removal.name, request)
        click.echo(f"Deleted the stack {removal.name}.")
    bucket, users = _releases(account, cloudformation, removal.name)
    if bucket is None or users or removal.users:
        return
    bucket.delete_releases()
    delete_stack(cloudformation, BUCKET_STACK_NAME, request)
    bucket.delete()
    click.echo(f"Deleted the stack {BUCKET_STACK_NAME} and the bucket {bucket.name}.")


def _require_deletable(stack: Stack) -> None:
    """
    Check that *stack* is one of neuron-emf and can be deleted now.

    Raises:
        SettingsError: If not, and the operator must act.
        SourceError: If an operation is in progress.
    """
    if stack.is_busy:
        require_usable(stack)
    if _OWN not in stack.parameters:
        msg = (
            f"The stack {stack.name} is not a deployed stack of neuron-emf: it has no parameter "
            f"{_OWN}. Use another --stack-name."
        )
        raise SettingsError(msg)
    if stack.is_protected:
        msg = (
            f"The stack {stack.name} has termination protection. Turn it off (aws cloudformation "
            f"update-termination-protection --stack-name {stack.name} "
            "--no-enable-termination-protection), then try again."
        )
        raise SettingsError(msg)


def _remainders(account: Account, removal: Removal) -> Iterator[tuple[str, ...]]:
    """Yield a row for each resource that stays: kind, name, USD a month, reason."""
    parameters = removal.parameters
    if not parameters:
        return
    adopted = "adopted; " if parameters.get(_OWN) == "true" else ""
    group = parameters.get("LogGroupName", "")
    with documented("logs:DescribeLogGroups"):
        answer = account.client("logs").describe_log_groups(logGroupNamePrefix=group)
        rows = [row for row in answer["logGroups"] if row["logGroupName"] == group]
    for row in rows:
        days = row.get("retentionInDays")
        expiry = f"after {days} days" if days else "never"
        usd = _usd(row["storedBytes"], "log-storage")
        yield ("log group", group, usd, f"{adopted}its lines expire {expiry}")
    adopted_bucket = parameters.get("LedgerBucketName")
    if bucket := removal.physical_id("LedgerBucket") or adopted_bucket:
        stored = None
        with suppress(SourceError), documented("s3:ListBucket"):
            pages = account.client("s3").get_paginator("list_objects_v2")
            objects = pages.paginate(Bucket=bucket, Prefix="ledger/")
            stored = sum(size or 0 for size in objects.search("Contents[].Size"))
        reason = f"its objects expire after {parameters.get('LedgerDays')} days"
        usd = _usd(stored, "object-storage")
        yield ("ledger bucket", bucket, usd, "adopted" if adopted_bucket else reason)
    for name in _ADOPTED:
        if parameters.get(name):
            yield (name, parameters[name], "", "adopted")


def _usd(stored_bytes: float | None, price: str) -> str:
    """Return USD a month for storage, as text."""
    if stored_bytes is None:
        return UNKNOWN_CELL
    return dollars(listed().prices[price].usd_of(stored_bytes / GB))


def _releases(
    account: Account,
    cloudformation: Any,  # noqa: ANN401 - boto3 publishes no types
    without: str,
) -> tuple[ReleaseBucket | None, str]:
    """Return the bucket of releases if there is one, and why it stays after a deletion."""
    stack = Stack.describe(cloudformation, BUCKET_STACK_NAME)
    if "BucketName" not in stack.outputs:
        return None, ""
    bucket = bucket_of(account, stack)
    if stack.is_protected or stack.is_busy:
        return bucket, f"{BUCKET_STACK_NAME} is protected or in {stack.status}"
    with documented("cloudformation:DescribeStacks"):
        rows = rows_of(cloudformation, "describe_stacks", "Stacks")
        users = [row["StackName"] for row in rows if _uses(row)]
    others = ", ".join(sorted({*users} - {BUCKET_STACK_NAME, without}))
    return bucket, others and f"may be used by {others}"


def _uses(row: JsonObject) -> bool:
    """Return True if a stack, as CloudFormation describes it, may have come from the bucket."""
    names = values_of(row.get("Parameters", ())).keys()
    return row["StackStatus"] == NEW or names >= {_OWN, OF_FUNCTIONS}
