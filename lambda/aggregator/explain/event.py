"""
Parse EventBridge's events about alarms, and find the subject of an alarm.

There are two kinds of events, both described at
https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-and-eventbridge.html:
`CloudWatch Alarm State Change` of an alarm on a metric, which has the previous state, and
`CloudWatch Alarm Contributor State Change` of one series of an alarm on a query. The latter does
not have the previous state: a contributor is in ALARM or OK, so one that is OK now was in ALARM.

The subject depends on the metric that the alarm watches, never on the alarm's name: CloudFormation
generates names, and people rename alarms.
"""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from datetime import datetime
from typing import TYPE_CHECKING, Final, Literal, get_args

from neuron_wire.catalogue import ALARMS, ClusterAlarm
from neuron_wire.line_members import LATEST_MS, entries_in, object_in, text_in, texts_in
from neuron_wire.names import (
    AWS_REGION,
    CLUSTER_DIMENSION,
    CLUSTER_NAMESPACE,
    OF_A_CONTRIBUTOR,
    OF_AN_ALARM,
    RECORD_NAMESPACE,
    VANISHED,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from neuron_wire.line_members import JsonObject

State = Literal["ALARM", "OK", "INSUFFICIENT_DATA"]
NO_DATA: Final = "NO DATA"
"""The words for INSUFFICIENT_DATA."""

_FILLED: Final = re.compile(r"([0-9]{1,4}) missing datapoints? (?:was|were) treated as \[NonB")
_ALARM_STATES: Final[dict[str, State]] = {state: state for state in get_args(State)}
_AGGREGATED: Final = re.compile(r'\b(?:avg|count|max|min|sum)\s*\(\s*"?(\w+)', re.IGNORECASE)
_OUR_NAMESPACE: Final = re.compile(f'"(?:{RECORD_NAMESPACE}|{CLUSTER_NAMESPACE})"')


LOW_UTILIZATION: Final = ALARMS["LowUtilization"]
SILENCE: Final = ALARMS["SilentInstances"]
HARDWARE: Final = ALARMS["HardwareErrors"]
EXECUTION_ERRORS: Final = ALARMS["ExecutionErrors"]
UNKNOWN_SUBJECT: Final = ClusterAlarm()
"""The subject of an alarm on none of our metrics."""

ALARM_SUBJECTS: Final = {alarm.metric: alarm for alarm in ALARMS.values()}


def find_subject(metrics: Iterable[str]) -> ClusterAlarm:
    """Return the subject of the first of *metrics* that is ours, otherwise `UNKNOWN_SUBJECT`."""
    return next(
        (ALARM_SUBJECTS[metric] for metric in metrics if metric in ALARM_SUBJECTS), UNKNOWN_SUBJECT
    )


class EventError(ValueError):
    """The event has an unknown shape; the author of the EventBridge rule must act."""


@dataclass(frozen=True, slots=True)
class Transition:
    """
    A change of state of an alarm, or of one of its contributors.

    Attributes:
        alarm: The alarm's name.

        alarm_arn: Its ARN; empty if the event has none.

        account: The account it is in; may be empty.

        region: Its Region; empty if the event has none.

        state: The new state.

        before: The previous state, or None if the event does not have it.

        at_s: When it entered the new state, seconds since the epoch.

        before_at_s: When it entered the previous state; None if unknown.

        reason: The reason, in CloudWatch's words.

        metrics: Our metrics that the alarm watches, first those that decide.

        other_metrics: Other metrics that the alarm watches.

        cluster: The cluster it is about; None if unknown.

        muted_by: ARN of the mute rule that was active; empty if none was.

        identity: An ID that is equal in each delivery of this transition, and in no other
            transition.
    """

    alarm: str
    alarm_arn: str
    account: str
    region: str
    state: State
    before: str | None
    at_s: float
    before_at_s: float | None
    reason: str
    metrics: tuple[str, ...]
    other_metrics: tuple[str, ...]
    cluster: str | None
    muted_by: str
    identity: str

    @property
    def lasted_minutes(self) -> float | None:
        """The minutes in the previous state; None if unknown."""
        if self.before_at_s is None or self.before_at_s > self.at_s:
            return None
        return (self.at_s - self.before_at_s) / 60

    @property
    def shown_state(self) -> str:
        """The state for people; a contributor without data is not OK."""
        return NO_DATA if self.is_gone or self.state == "INSUFFICIENT_DATA" else self.state

    @property
    def is_gone(self) -> bool:
        """True if the alarm is OK only because data is missing: its problem may continue."""
        return self.state == "OK" and self.reason.startswith(VANISHED)

    @property
    def filled_minutes(self) -> int:
        """Minutes without data that CloudWatch counted as healthy when the alarm became OK."""
        filled = _FILLED.search(self.reason) if self.state == "OK" else None
        return int(filled[1]) if filled else 0


def read_transition(event: JsonObject) -> Transition:
    """
    Read *event*.

    Raises:
        EventError: If it is neither of the two kinds, or lacks the alarm, its new state or the
            time.
    """
    kind = text_in(event, "detail-type")
    if kind not in {OF_AN_ALARM, OF_A_CONTRIBUTOR}:
        msg = (
            f"Unexpected event with detail-type {kind[:60]!r}. Send only "
            f"{OF_AN_ALARM!r} or {OF_A_CONTRIBUTOR!r} to explain."
        )
        raise EventError(msg)
    detail = object_in(event, "detail")
    now = object_in(detail, "state")
    before = object_in(detail, "previousState")
    contributor = object_in(detail, "alarmContributor")
    alarm = text_in(detail, "alarmName")
    state = _ALARM_STATES.get(text_in(now, "value"))
    timestamp = text_in(now, "timestamp") or text_in(event, "time")
    at_s = _seconds(text_in(now, "timestamp")) or _seconds(text_in(event, "time"))
    if not alarm or state is None or at_s is None:
        msg = (
            "The event has no alarmName, no time, or no state of ALARM, OK or "
            "INSUFFICIENT_DATA, which every CloudWatch state change has. Inspect it "
            "in the dead-letter queue."
        )
        raise EventError(msg)
    region = text_in(event, "region")
    arns = texts_in(event, "resources")
    watched = list(_watched(object_in(detail, "configuration")))
    clusters = [
        text_in(object_in(contributor, "attributes"), CLUSTER_DIMENSION),
        *(cluster for _, _, cluster in watched),
    ]
    identity = [*(arns or [alarm])[:1], contributor, timestamp, state]
    return Transition(
        alarm=alarm,
        alarm_arn=arns[0] if arns else "",
        account=text_in(event, "account"),
        region=region if AWS_REGION.fullmatch(region) else "",
        state=state,
        before=text_in(before, "value") or None,
        at_s=at_s,
        before_at_s=_seconds(text_in(before, "timestamp")),
        reason=text_in(now, "reason"),
        metrics=tuple(name for name, is_ours, _ in watched if is_ours),
        other_metrics=tuple(name for name, is_ours, _ in watched if not is_ours),
        cluster=next(filter(None, clusters), None),
        muted_by=_muted_by(object_in(detail, "muteDetail"), at_s),
        identity=json.dumps(identity, sort_keys=True),
    )


def _muted_by(mute: JsonObject, at_s: float) -> str:
    """Return the mute rule that was active at *at_s*; outside its window it mutes nothing."""
    start_s = _seconds(text_in(mute, "muteWindowStart"))
    end_s = _seconds(text_in(mute, "muteWindowEnd"))
    before = start_s is not None and at_s < start_s
    after = end_s is not None and at_s > end_s
    return "" if before or after else text_in(mute, "mutedByArn")


def _watched(configuration: JsonObject) -> Iterator[tuple[str, bool, str]]:
    """Yield name, True if it is ours, and cluster of each metric, the deciding ones first."""
    for query in sorted(
        entries_in(configuration, "metrics"), key=lambda query: query.get("returnData") is not True
    ):
        metric = object_in(object_in(query, "metricStat"), "metric")
        name = text_in(metric, "name")
        namespace = text_in(metric, "namespace")
        if name:
            is_ours = namespace in {RECORD_NAMESPACE, CLUSTER_NAMESPACE}
            cluster = text_in(object_in(metric, "dimensions"), CLUSTER_DIMENSION)
            yield (name if is_ours else f"{namespace} {name}"), is_ours, cluster
        expression = text_in(query, "expression")
        if _OUR_NAMESPACE.search(expression):
            yield from ((name, True, "") for name in _AGGREGATED.findall(expression))


def _seconds(text: str) -> float | None:
    fraction = ".%f" if "." in text else ""
    try:
        at_s = datetime.strptime(text, f"%Y-%m-%dT%H:%M:%S{fraction}%z").timestamp()
    except (ValueError, OverflowError):
        return None
    return at_s if 0 <= 1000 * at_s <= LATEST_MS else None
