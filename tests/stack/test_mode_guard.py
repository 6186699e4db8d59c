"""The guard of the mode, as it stands in the template: kinesis is left by way of drain."""

from __future__ import annotations

import http.server
import json
import threading

import boto3
import pytest

STACK = "arn:aws:cloudformation:us-east-1:111122223333:stack/neuron-emf/0"
DIRECTLY = ("kinesis", "direct")


@pytest.fixture
def ask(template, monkeypatch):
    """Run the guard on an event as CloudFormation does; the answer that it puts."""
    bodies = []

    class Answers(http.server.BaseHTTPRequestHandler):
        def do_PUT(self):
            bodies.append(self.rfile.read(int(self.headers["Content-Length"])))
            self.send_response(200)
            self.end_headers()

        def log_message(self, *_):
            """Silence."""

    server = http.server.HTTPServer(("127.0.0.1", 0), Answers)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    guard: dict = {}
    exec(template["Resources"]["ModeGuardFunction"]["Properties"]["Code"]["ZipFile"], guard)

    def answer(kind, before, after, status):
        class CloudFormation:
            def describe_stacks(self, StackName):  # noqa: N803 - as boto3 calls it
                assert StackName == STACK
                if status is None:
                    raise PermissionError
                return {"Stacks": [{"StackStatus": status}]}

        monkeypatch.setattr(boto3, "client", lambda _service, **_: CloudFormation())
        old = {"OldResourceProperties": {"Mode": before}} if kind == "Update" else {}
        event = {
            "RequestType": kind,
            "ResponseURL": f"http://127.0.0.1:{server.server_port}/",
            "StackId": STACK,
            "RequestId": "1",
            "LogicalResourceId": "ModeGuard",
            "ResourceProperties": {"Mode": after},
            **old,
        }
        guard["handler"](event, None)
        return json.loads(bodies.pop())

    yield answer
    server.shutdown()
    server.server_close()


@pytest.mark.parametrize(
    ("kind", "modes", "status", "expected"),
    [
        ("Update", DIRECTLY, "UPDATE_IN_PROGRESS", "FAILED"),
        ("Update", DIRECTLY, None, "FAILED"),  # not known is not rolling back
        ("Update", DIRECTLY, "UPDATE_ROLLBACK_IN_PROGRESS", "SUCCESS"),
        ("Update", ("drain", "direct"), "UPDATE_IN_PROGRESS", "SUCCESS"),
        ("Update", ("kinesis", "drain"), "UPDATE_IN_PROGRESS", "SUCCESS"),
        ("Update", ("direct", "kinesis"), "UPDATE_IN_PROGRESS", "SUCCESS"),
        ("Create", ("", "direct"), "CREATE_IN_PROGRESS", "SUCCESS"),
        ("Delete", ("", "kinesis"), "DELETE_IN_PROGRESS", "SUCCESS"),
    ],
)
def test_unread_lines_are_deleted_by_no_deployment(ask, kind, modes, status, expected):
    """Only the way back of a change that failed goes from kinesis to direct in one step."""
    answer = ask(kind, *modes, status)
    assert (expected, "mode") == (answer["Status"], answer["PhysicalResourceId"])
    assert (expected == "FAILED") == ("Mode=drain" in answer.get("Reason", ""))
    assert ("ModeGuard", "1", STACK) == (
        answer["LogicalResourceId"],
        answer["RequestId"],
        answer["StackId"],
    )


def test_the_filter_waits_for_the_guard(template):
    """Nothing that lines depend on is changed before the guard has agreed."""
    after = template["Resources"]["RecordsSubscription"]["Metadata"]
    assert {"Ref": "ModeGuard"} == after["Allowed"]
    assert {"Ref": "Mode"} == template["Resources"]["ModeGuard"]["Properties"]["Mode"]
