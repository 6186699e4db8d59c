"""
The embedded AWS with rules of AWS that it lacks: `python strict.py` instead of `ministack`.

It runs in the emulator's environment, where nothing of ours is installed, and replaces functions of
the emulator's services, so that the emulator rejects, sends and delivers as AWS does:

* CloudFormation tags a bucket, and S3 rejects tags that lack these system tags:
  https://github.com/hashicorp/terraform-provider-aws/issues/7323
* CloudFormation deletes no bucket with objects:
  https://docs.aws.amazon.com/AWSCloudFormation/latest/TemplateReference/aws-resource-s3-bucket.html
* CloudWatch sends an event when an alarm is created and when its state changes:
  https://docs.aws.amazon.com/AmazonCloudWatch/latest/monitoring/cloudwatch-and-eventbridge.html
* The number of a log group's subscription filters is limited, and one of them may deliver to a
  stream. AWS's page says two. The quota is five, but a test with two is stricter:
  https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/SubscriptionFilters.html
"""

# ruff: noqa: ANN401, SLF001 - the emulator has neither types nor hooks

from __future__ import annotations

import gzip
import json
import sys
import time
import uuid
from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from collections.abc import Sequence

BUCKET_TYPE: Final = "AWS::S3::Bucket"
MAX_FILTERS: Final = 2  # for one log group


def keep_system_tags(s3: Any, provisioners: Any) -> None:
    """Make CloudFormation tag buckets and S3 keep these tags, and neither lose objects."""
    provisioners._STACK_TAG_PROPERTY[BUCKET_TYPE] = ("Tags", "list")
    handlers = provisioners._RESOURCE_HANDLERS[BUCKET_TYPE]
    create = handlers["create"]
    delete = handlers["delete"]
    put_tags = s3._put_bucket_tagging

    def create_with_tags(logical_id: str, props: dict[str, Any], stack_name: str) -> Any:
        name, attributes = create(logical_id, props, stack_name)
        s3._bucket_tags[name] = provisioners._tag_map(props["Tags"])
        return name, attributes

    def delete_if_empty(name: str, props: dict[str, Any]) -> None:
        if s3._buckets.get(name, {}).get("objects"):
            msg = "The bucket you tried to delete is not empty"
            raise ValueError(msg)
        delete(name, props)

    def put_with_system_tags(name: str, body: bytes) -> Any:
        tags = s3._bucket_tags.get(name) or {}
        system_tags = {key: value for key, value in tags.items() if key.startswith("aws:")}
        if not system_tags.items() <= s3._parse_tags_xml(body).items():
            return s3._error("InvalidTag", "System tags cannot be removed by requester", 400)
        return put_tags(name, body)

    handlers.update(create=create_with_tags, delete=delete_if_empty)
    s3._put_bucket_tagging = put_with_system_tags


def send_alarm_events(cloudwatch: Any, eventbridge: Any) -> None:
    """Make CloudWatch send an event for each created alarm and each state change."""
    record = cloudwatch._record_history

    def record_and_send(name: str, old_state: str, state: str, reason: str, *more: Any) -> None:
        record(name, old_state, state, reason, *more)
        alarm = cloudwatch._alarms[name]
        dimensions = {row["Name"]: row["Value"] for row in alarm.get("Dimensions") or ()}
        metric = {"namespace": alarm["Namespace"], "name": alarm["MetricName"]}
        statistic = {"period": alarm["Period"], "stat": alarm["Statistic"]}
        metric_stat = {"metric": {**metric, "dimensions": dimensions}, **statistic}
        timestamp = time.strftime("%Y-%m-%dT%H:%M:%S.000+0000", time.gmtime())
        detail = {
            "alarmName": name,
            "state": {"value": state, "reason": reason, "timestamp": timestamp},
            "configuration": {"metrics": [{"id": "m", "metricStat": metric_stat}]},
        }
        if old_state == state:  # this is how the emulator records a created alarm
            detail["operation"] = "create"
            detail_type = "CloudWatch Alarm Configuration Change"
        else:
            detail["previousState"] = {"value": old_state, "timestamp": timestamp}
            detail_type = "CloudWatch Alarm State Change"
        entry = {
            "Source": "aws.cloudwatch",
            "DetailType": detail_type,
            "Detail": json.dumps(detail),
            "Resources": [alarm["AlarmArn"]],
        }
        eventbridge._put_events({"Entries": [entry]}, allow_aws_source=True)

    cloudwatch._record_history = record_and_send


def limit_filters(logs: Any) -> None:
    """Make CloudWatch Logs reject a third subscription filter of a log group."""
    put = logs._put_subscription_filter

    def put_within_limit(data: dict[str, Any]) -> Any:
        filters = logs._log_groups.get(data.get("logGroupName"), {}).get("subscriptionFilters", {})
        if len({*filters, data.get("filterName")}) > MAX_FILTERS:
            message = "Resource limit exceeded."
            return logs.error_response_json("LimitExceededException", message, 400)
        return put(data)

    logs._put_subscription_filter = put_within_limit


def deliver_to_streams(logs: Any, kinesis: Any) -> None:
    """Make subscription filters deliver to streams; the emulator only invokes functions."""
    deliver = logs._fanout_to_subscription_filters

    def deliver_everywhere(group: str, stream: str, events: Sequence[dict[str, Any]]) -> None:
        deliver(group, stream, events)
        filters = logs._log_groups.get(group, {}).get("subscriptionFilters", {})
        for name, row in filters.items():
            matching = [
                {**event, "id": uuid.uuid4().hex}
                for event in events
                if logs._subscription_pattern_matches(row["filterPattern"], event["message"])
            ]
            if matching and ":stream/" in row["destinationArn"]:
                payload = {
                    "messageType": "DATA_MESSAGE",
                    "owner": logs.get_account_id(),
                    "logGroup": group,
                    "logStream": stream,
                    "subscriptionFilters": [name],
                    "logEvents": matching,
                }
                data = gzip.compress(json.dumps(payload).encode())
                kinesis.put_record_internal(row["destinationArn"], stream, data)

    logs._fanout_to_subscription_filters = deliver_everywhere


def main() -> None:
    """Replace the functions, then run the emulator."""
    services = ("s3", "cloudwatch", "eventbridge", "cloudwatch_logs", "kinesis")
    s3, cloudwatch, eventbridge, logs, kinesis = [
        import_module(f"ministack.services.{name}") for name in services
    ]
    provisioners = import_module("ministack.services.cloudformation.provisioners")
    keep_system_tags(s3, provisioners)
    send_alarm_events(cloudwatch, eventbridge)
    limit_filters(logs)
    deliver_to_streams(logs, kinesis)
    sys.exit(import_module("ministack.app").main())


if __name__ == "__main__":
    main()
