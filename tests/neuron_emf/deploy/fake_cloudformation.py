"""A fake account for deployments: the requests to CloudFormation, S3 and STS, and their answers."""

from __future__ import annotations

from functools import partial
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

EVENTS_PER_PAGE = 100
RELEASE_BUCKET = "neuron-emf-deploy"


class FakeCloudFormation:
    """
    An account in which one change set deploys a stack.

    Attributes:
        calls: Operation and request of every call, in order.

        raises: Errors of calls, by number from 1 or by operation; each is raised once.

        statuses: Statuses of each stack, one per request; the last repeats. Empty means that the
            stack does not exist.

        ends: Status of the stack after its change set was executed.

        change_set: DescribeChangeSet's answer.

        events: Events of the stack, newest first.

        parameters: Parameters of an existing stack.

        checksums: Checksum of each object of the bucket, by key.
    """

    def __init__(self, **statuses):
        self.calls = []
        self.raises = {}
        self.statuses = {name.replace("_", "-"): list(given) for name, given in statuses.items()}
        self.ends = "CREATE_COMPLETE"
        self.change_set = {"Status": "CREATE_COMPLETE", "Changes": []}
        self.events = []
        self.parameters = {}
        self.checksums = {}

    @property
    def operations(self):
        """Return the operations of all calls, in order."""
        return [operation for operation, _ in self.calls]

    def requests(self, operation):
        """Return the request of each call of *operation*."""
        return [asked for called, asked in self.calls if called == operation]

    def client(self, _service):
        """Return one client for all three services, whose operations have different names."""
        answers: dict[str, Any] = {
            "create_change_set": lambda **_: {},
            "create_stack": lambda **asked: self._change(asked, "CREATE_COMPLETE"),
            "delete_change_set": lambda **_: {},
            "describe_change_set": lambda **_: self.change_set,
            "describe_stack_events": self._events,
            "describe_stacks": self._stacks,
            "execute_change_set": lambda **asked: self._change(asked, self.ends),
            "get_caller_identity": lambda: {"Account": "111122223333"},
            "head_object": self._head_object,
            "put_object": self._put_object,
        }
        calls = {name: partial(self._called, name, answer) for name, answer in answers.items()}
        meta = SimpleNamespace(endpoint_url="https://s3", region_name="us-west-2")
        pages = {
            "describe_stack_events": partial(self._pages, calls),
            "describe_change_set": lambda **asked: SimpleNamespace(
                build_full_result=partial(calls["describe_change_set"], **asked)
            ),
        }
        paginators = {name: SimpleNamespace(paginate=paginate) for name, paginate in pages.items()}
        return SimpleNamespace(meta=meta, get_paginator=paginators.__getitem__, **calls)

    def _called(self, operation, answer, **asked):
        self.calls.append((operation, asked))
        for key in (len(self.calls), operation):
            if key in self.raises:
                raise self.raises.pop(key)
        return answer(**asked)

    def _head_object(self, Key, **_):  # noqa: N803 - boto3's name
        if Key not in self.checksums:
            raise ClientError({"Error": {"Code": "404"}}, "HeadObject")
        return {"ChecksumSHA256": self.checksums[Key]}

    def _put_object(self, Key, ChecksumSHA256, **_):  # noqa: N803
        self.checksums[Key] = ChecksumSHA256

    def _change(self, asked, end):
        self.statuses[asked["StackName"]] = ["CREATE_IN_PROGRESS", end]
        return {}

    def _stacks(self, **asked):
        name = asked["StackName"]
        statuses = self.statuses.get(name, [""])
        status = statuses.pop(0) if len(statuses) > 1 else statuses[0]
        if not status:
            words = f"Stack with id {name} does not exist"
            raise ClientError({"Error": {"Code": "ValidationError", "Message": words}}, "Describe")
        is_bucket = name == RELEASE_BUCKET and status.endswith("E_COMPLETE")
        outputs = [{"OutputKey": "BucketName", "OutputValue": "b"}] if is_bucket else []
        named = [
            {"ParameterKey": key, "ParameterValue": parameter}
            for key, parameter in self.parameters.items()
        ]
        return {"Stacks": [{"StackStatus": status, "Outputs": outputs, "Parameters": named}]}

    @staticmethod
    def _pages(calls, **asked):
        page = calls["describe_stack_events"](**asked)
        yield page
        while "NextToken" in page:
            page = calls["describe_stack_events"](**asked, NextToken=page["NextToken"])
            yield page

    def _events(self, **asked):
        start = int(asked.get("NextToken", 0))
        end = start + EVENTS_PER_PAGE
        more = {"NextToken": str(end)} if end < len(self.events) else {}
        return {"StackEvents": self.events[start:end], **more}
