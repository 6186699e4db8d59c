"""
One stream made, one line written and read back: the permissions, tried for real.

The line is JSON without EMF, of a kind that the stack passes over, and without
the member that its subscription asks for. The stream has a name of its own, the
same each time, so that a check leaves one stream behind, however often it runs.
"""

from __future__ import annotations

import json
import secrets
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from emitter.delivery.log_names import stream_name
from neuron_emf.check.aws_client import ACCESS, EXISTS, MISSING, Answer, AwsClient
from neuron_emf.checks import CheckResult, failed, not_tried, ok, warning
from neuron_wire.names import VERSION

if TYPE_CHECKING:
    from neuron_emf.check.log_groups import LogTarget

KIND: Final = "probe"
STREAM_TEMPLATE: Final = "check/{instance}"
READ_WITHIN_S: Final = 180.0
"""Lines that were taken have been recorded to be unreadable for more than 90 s."""

LOOK_EVERY_S: Final = 2.0

_POLICY: Final = "attach the stack's emitter policy (its output EmitterPolicyArn) to the role"


def probe_line(cluster: str, instance_id: str, timestamp_ms: int) -> str:
    """A line that no consumer takes for a record, and that no other check wrote."""
    members = {
        "Schema": VERSION,
        "Kind": KIND,
        "ClusterName": cluster,
        "InstanceId": instance_id,
        "Timestamp": timestamp_ms,
        "Probe": secrets.token_hex(8),
    }
    return json.dumps(members, separators=(",", ":"))


@dataclass(frozen=True, slots=True)
class Probe:
    """One line on its way, through *aws* to the stream of *instance_id*."""

    aws: AwsClient
    target: LogTarget
    instance_id: str
    now_ms: int

    @property
    def _stream(self) -> str:
        return stream_name(STREAM_TEMPLATE, cluster="", instance_id=self.instance_id)

    def make_stream(self) -> CheckResult:
        """CreateLogStream; one that is there already shows the permission as well."""
        answer = self._ask("create_log_stream")
        if answer.reason in {"", EXISTS}:
            again = ", which was there" if answer.reason else ""
            return ok(f"{answer.action} made {self._stream}{again}")
        return self._refused(answer)

    def put(self, line: str, *, has_stream: bool = True) -> CheckResult:
        """PutLogEvents with *line*; also where no stream was made, which may be there."""
        event = {"timestamp": self.now_ms, "message": line}
        answer = self._ask("put_log_events", logEvents=[event])
        if answer.reason and not has_stream and answer.reason != ACCESS:
            return not_tried("there is no log stream")
        if answer.reason:
            return self._refused(answer, is_stream_made=True)
        if told := answer.response.get("rejectedLogEventsInfo"):
            return failed(
                f"CloudWatch Logs rejected the timestamp ({', '.join(sorted(told))})",
                "correct the clock of this machine",
            )
        return ok(f"{answer.action} took one line of kind {KIND}")

    def read_back(self, line: str) -> CheckResult:
        """
        GetLogEvents until *line* is there, which may take minutes.

        An answer without it, also an empty one, says nothing: the next may have it.
        """
        waited_s = 0.0
        while True:
            answer = self._ask("get_log_events", startTime=self.now_ms, startFromHead=True)
            if answer.reason:
                return self._unread(answer)
            if any(event.get("message") == line for event in answer.response.get("events", ())):
                return ok(f"{answer.action} gave the line back")
            if waited_s >= READ_WITHIN_S:
                return warning(
                    f"the line was accepted but cannot be read after {READ_WITHIN_S:g} s",
                    f"look for it in {self._stream}: CloudWatch Logs may show new lines late",
                )
            time.sleep(LOOK_EVERY_S)
            waited_s += LOOK_EVERY_S

    def _ask(self, operation: str, **parameters: object) -> Answer:
        names = {"logGroupName": self.target.group, "logStreamName": self._stream}
        return self.aws.ask("logs", operation, **names, **parameters)

    def _unread(self, answer: Answer) -> CheckResult:
        resource = self.target.arn(f"{self.target.group}:log-stream:{self._stream}")
        if answer.reason == ACCESS:
            return warning(
                f"not known: {answer.action} on {resource} is denied, as it is to every emitter",
                f"nothing; to check it, allow {answer.action} in your IAM policy",
            )
        return warning(
            f"{answer.action} was not answered ({answer.words})", "try again, or look for it"
        )

    def _refused(self, answer: Answer, *, is_stream_made: bool = False) -> CheckResult:
        resource, group = self.target.of_group, self.target.group
        if answer.reason == ACCESS:
            return failed(f"{answer.action} on {resource} is denied", _POLICY)
        if answer.reason == MISSING and is_stream_made:
            found = f"{self._stream} was created but does not exist yet"
            return failed(found, "try again; emitters do, too")
        if answer.reason == MISSING:
            return failed(
                f"no log group {group} in {self.target.region}",
                "deploy the stack there, or correct --log-group and --region",
            )
        return failed(
            f"{answer.action} on {group} failed ({answer.reason}): {answer.words}",
            "try again; while it fails, records wait in the spool",
        )
