"""
Create and remove the resources of a run: only with the journal, and only with the tag.

The journal has one JSON object per line, each flushed to the disk before any other action; a line
that a kill cut off belongs to a resource that was never created. A run creates stacks, which have
its tag from the start, and log groups and buckets that outlive them; CloudFormation adds the tag to
these, and the journal gets the names of buckets before their stack is deleted. An existing resource
is never used. A resource is removed only if the journal named it before its creation and it has the
run's tag.
"""

from __future__ import annotations

import json
import os
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from local.embedded_aws.clients import SDK_ERRORS
from neuron_emf.account import error_code
from neuron_emf.deploy.package import CAPABILITIES
from neuron_emf.deploy.stack import Stack, given_parameters
from neuron_emitter.errors import EmitterError
from proof.accept.call_recording import AcceptError

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping
    from pathlib import Path

    from proof.accept.call_recording import AccountPlace


JOURNAL_NAME: Final = "journal.jsonl"
STACK_KIND_OF_RESOURCE: Final = "stack"
LOG_GROUP_KIND: Final = "log group"
BUCKET_KIND: Final = "bucket"


@dataclass(frozen=True)
class MadeResource:
    """
    A resource that a run creates.

    Attributes:
        kind: `STACK`, `LOG_GROUP` or `BUCKET`.

        name: Its name in AWS.
    """

    kind: str
    name: str


class Journal:
    """
    The journal of one run.

    Attributes:
        run: The run's ID, which is part of all its names and of its tag.

        where: Account, Region and endpoint, which identify the place of the run.
    """

    def __init__(self, path: Path, rows: list[dict[str, Any]]) -> None:
        self._path = path
        self._rows = rows
        self.run = rows[0]["run"] if rows else ""
        self.where = rows[0]["where"] if rows else {}

    @classmethod
    def begin(cls, folder: Path, run: str, where: dict[str, str]) -> Journal:
        """Start a new journal in *folder*."""
        folder.mkdir(parents=True, exist_ok=True)
        journal = cls(folder / JOURNAL_NAME, [])
        journal.run = run
        journal.where = where
        journal._write(row="run", run=run, where=where)
        return journal

    @classmethod
    def read(cls, path: Path) -> Journal:
        """
        Read the journal of a run, however it ended.

        Raises:
            AcceptError: If another part than its end is unreadable.
        """
        *whole, torn = path.read_bytes().split(b"\n")
        with path.open("r+b") as file:  # the next line must not be joined to it
            file.truncate(path.stat().st_size - len(torn))
        try:
            return cls(path, [json.loads(line) for line in whole])
        except ValueError as error:
            msg = f"{path} cannot be read: {error}. Look for what has the tag in the console."
            raise AcceptError(msg) from error

    def will_make(self, kind: str, name: str) -> None:
        """Write that a resource will be created."""
        self._write(row="makes", kind=kind, name=name)

    def is_gone(self, entry: MadeResource) -> None:
        """Write that a resource was removed, or never created."""
        self._write(row="gone", kind=entry.kind, name=entry.name)

    def left(self) -> list[MadeResource]:
        """Return the resources that may exist, the latest first."""
        found: dict[MadeResource, None] = {}
        for row in self._rows:
            if row["row"] in {"makes", "gone"}:
                entry = MadeResource(row["kind"], row["name"])
                found.pop(entry, None)
                if row["row"] == "makes":
                    found[entry] = None
        return [*found][::-1]

    def _write(self, **row: object) -> None:
        with self._path.open("ab") as file:
            file.write(json.dumps(row).encode() + b"\n")
            file.flush()
            os.fsync(file.fileno())
        self._rows.append(row)


ACCEPT_TAG: Final = "neuron-emf-accept"
REMOVED_WITHIN_S: Final = 2400.0  # functions in a VPC and buckets with objects take long


def make_stack(
    place: AccountPlace,
    journal: Journal,
    name: str,
    parameters: Mapping[str, str],
    *,
    keeps: str = "",
    **template: str,
) -> None:
    """
    Have CloudFormation create a stack; *keeps* is the log group that outlives it.

    Raises:
        AcceptError: If a stack or log group with this name already exists.
    """
    cloudformation = place.client("cloudformation")
    if Stack.describe(cloudformation, name).status:
        msg = f"The stack {name} is there already. Nothing was made; run again, for another name."
        raise AcceptError(msg)
    if keeps:
        if group_arn(place, keeps):
            msg = f"The log group {keeps} is there already. Run again, for another name."
            raise AcceptError(msg)
        journal.will_make(LOG_GROUP_KIND, keeps)
    journal.will_make(STACK_KIND_OF_RESOURCE, name)
    cloudformation.create_stack(
        StackName=name,
        Parameters=[{"ParameterKey": k, "ParameterValue": v} for k, v in parameters.items()],
        Capabilities=list(CAPABILITIES),
        Tags=[{"Key": ACCEPT_TAG, "Value": journal.run}],
        **template,
    )


def settled(place: AccountPlace, name: str) -> Stack:
    """
    Return the stack after all operations on it have ended; its status is empty if there is none.

    Raises:
        AcceptError: If that takes too long.
    """
    deadline = time.monotonic() + REMOVED_WITHIN_S
    while True:
        stack = Stack.describe(place.client("cloudformation"), name)
        if not stack.is_busy:
            return stack
        if time.monotonic() >= deadline:
            minutes = REMOVED_WITHIN_S / 60
            msg = (
                f"The stack {name} is in {stack.status} for {minutes:.0f} minutes. See its events."
            )
            raise AcceptError(msg)
        time.sleep(0.1 if place.is_embedded else 5.0)


def done(place: AccountPlace, name: str) -> Stack:
    """
    Return the stack in its requested state.

    Raises:
        AcceptError: If the stack did not reach that state.
    """
    stack = settled(place, name)
    if stack.status not in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}:
        msg = f"The stack {name} was not deployed, it is in {stack.status or 'no status'}."
        raise AcceptError(msg)
    return stack


def change_stack(place: AccountPlace, stack: Stack, **named: str) -> Stack:
    """Change parameters of a stack of ours; other parameters keep their values."""
    place.client("cloudformation").update_stack(
        StackName=stack.name,
        UsePreviousTemplate=True,
        Parameters=given_parameters(stack.parameters, named, stack),
        Capabilities=list(CAPABILITIES),
    )
    changed = settled(place, stack.name)
    if not changed.status:
        msg = f"The stack {stack.name} was deleted while it was changed."
        raise AcceptError(msg)
    return changed


def delete_stack(place: AccountPlace, journal: Journal, name: str) -> str:
    """Delete a stack of the run. Return why not; empty if it is gone."""
    cloudformation = place.client("cloudformation")
    if not settled(place, name).status:
        return ""
    (found,) = cloudformation.describe_stacks(StackName=name)["Stacks"]
    if why := _untagged(STACK_KIND_OF_RESOURCE, name, found.get("Tags", ()), journal):
        return why
    rows = cloudformation.describe_stack_resources(StackName=name)["StackResources"]
    buckets = [
        str(row["PhysicalResourceId"])
        for row in rows
        if row["ResourceType"] == "AWS::S3::Bucket" and row.get("PhysicalResourceId")
    ]
    for bucket in buckets:
        journal.will_make(BUCKET_KIND, bucket)
        if _is_there(place, bucket):  # unless an earlier attempt has already deleted it
            _empty(place, bucket)
    cloudformation.delete_stack(StackName=name)
    stack = settled(place, name)
    if stack.status:
        return f"stack {name}: it is in {stack.status}, see its events"
    for bucket in buckets:
        if why := remove_one(place, journal, MadeResource(BUCKET_KIND, bucket)):
            return why
    return ""


def group_arn(place: AccountPlace, name: str) -> str:
    """Return the ARN of a log group, empty if there is none."""
    pages = place.client("logs").get_paginator("describe_log_groups")
    for page in pages.paginate(logGroupNamePrefix=name):
        for row in page["logGroups"]:
            if row["logGroupName"] == name:
                return str(row["arn"]).removesuffix(":*")
    return ""


def remove(place: AccountPlace, journal: Journal, say: Callable[[str], None]) -> list[str]:
    """Remove the resources in the journal, the latest first. Return what is left, and why."""
    left = []
    has_stack = False
    # Buckets last: a stack that still exists needs its bucket.
    for entry in sorted(journal.left(), key=lambda entry: entry.kind == BUCKET_KIND):
        if entry.kind == BUCKET_KIND and has_stack:
            left.append(f"bucket {entry.name}: kept, because a stack of this run is still there")
            continue
        try:
            why = remove_one(place, journal, entry)
        except (AcceptError, EmitterError, *SDK_ERRORS) as error:
            why = f"{entry.kind} {entry.name}: {error}"
        if why:
            left.append(why)
            has_stack = has_stack or entry.kind == STACK_KIND_OF_RESOURCE
        else:
            say(f"removed: {entry.kind} {entry.name}")
    return left


def remove_one(place: AccountPlace, journal: Journal, entry: MadeResource) -> str:
    """Remove one resource and note it in the journal. Return why not; empty if it is gone."""
    why = _REMOVERS[entry.kind](place, journal, entry.name)
    if not why:
        journal.is_gone(entry)
    return why


def _delete_group(place: AccountPlace, journal: Journal, name: str) -> str:
    arn = group_arn(place, name)
    if not arn:
        return ""
    logs = place.client("logs")
    tags = logs.list_tags_for_resource(resourceArn=arn)["tags"]
    rows = [{"Key": key, "Value": value} for key, value in tags.items()]
    if why := _untagged(LOG_GROUP_KIND, name, rows, journal):
        return why
    logs.delete_log_group(logGroupName=name)
    return ""


def _delete_bucket(place: AccountPlace, journal: Journal, name: str) -> str:
    if not _is_there(place, name):  # it was deleted with its stack
        return ""
    client = place.client("s3")
    owner = {"ExpectedBucketOwner": place.account}
    if why := _untagged(
        BUCKET_KIND, name, client.get_bucket_tagging(Bucket=name, **owner)["TagSet"], journal
    ):
        return why
    _empty(place, name)
    client.delete_bucket(Bucket=name, **owner)
    return ""


def _is_there(place: AccountPlace, bucket: str) -> bool:
    client = place.client("s3")
    try:
        client.head_bucket(Bucket=bucket, ExpectedBucketOwner=place.account)
    except client.exceptions.ClientError as error:
        # a HEAD has only the number, other calls the name
        if error_code(error) in {"404", "NoSuchBucket"}:
            return False
        raise
    return True


def _empty(place: AccountPlace, bucket: str) -> None:
    """Delete every version of every object in a bucket of a tagged stack."""
    client = place.client("s3")
    owner = {"ExpectedBucketOwner": place.account}
    for page in client.get_paginator("list_object_versions").paginate(Bucket=bucket, **owner):
        rows = [*page.get("Versions", ()), *page.get("DeleteMarkers", ())]
        if rows:
            objects = [{"Key": row["Key"], "VersionId": row["VersionId"]} for row in rows]
            client.delete_objects(Bucket=bucket, Delete={"Objects": objects}, **owner)


def _untagged(kind: str, name: str, tags: Iterable[Mapping[str, str]], journal: Journal) -> str:
    """Return why a resource is not removed; empty if it has the tag of the run."""
    if {"Key": ACCEPT_TAG, "Value": journal.run} in tags:
        return ""
    return f"{kind} {name}: it does not have the tag of this run and was not touched"


_REMOVERS: Final = {
    STACK_KIND_OF_RESOURCE: delete_stack,
    LOG_GROUP_KIND: _delete_group,
    BUCKET_KIND: _delete_bucket,
}
