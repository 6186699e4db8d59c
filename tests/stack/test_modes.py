"""How lines reach ingest in each mode, and that changing the mode loses none."""

from __future__ import annotations

import re

MODES = ["direct", "kinesis", "drain"]
STREAM_ONLY = {"RecordsStream", "StreamReader", "IteratorAgeAlarm"}
NAMED = "arn:aws:kinesis:us-east-1:123456789012:stream/neuron-emf-RecordsStream-*"
RIGHT = re.compile(r"AWS::(IAM::|Lambda::Permission|SQS::QueuePolicy|SNS::TopicPolicy)")


def statements_of(role):
    """What a resolved role may do."""
    (policy,) = role["Properties"]["Policies"]
    return policy["PolicyDocument"]["Statement"]


# --- one filter, one destination ---


def test_direct_needs_nothing_of_kinesis(deployed):
    """No stream that costs by the hour."""
    resources = deployed(Mode="direct")
    assert set() == STREAM_ONLY & resources.keys()
    subscription = resources["RecordsSubscription"]["Properties"]
    assert subscription["DestinationArn"] == "<IngestFunction.Arn>"
    assert set() == {"RoleArn", "Distribution"} & subscription.keys()


def test_kinesis_delivers_to_the_stream_and_to_nothing_else(deployed):
    """CloudWatch Logs writes with a role of its own."""
    resources = deployed(Mode="kinesis")
    assert resources.keys() >= STREAM_ONLY
    subscription = resources["RecordsSubscription"]["Properties"]
    assert subscription["DestinationArn"] == "<RecordsStream.Arn>"
    assert subscription["RoleArn"] == "<SubscriptionRole.Arn>"
    (statement,) = statements_of(resources["SubscriptionRole"])
    assert statement["Resource"] == NAMED
    assert {"kinesis:PutRecord", "kinesis:PutRecords"} == set(statement["Action"])


def test_drain_delivers_directly_and_still_reads_the_stream(deployed):
    """What direct and kinesis have, together: so nothing in the stream is left unread."""
    direct, kinesis, drain = (deployed(Mode=mode) for mode in MODES)
    assert direct.keys() | STREAM_ONLY == kinesis.keys() == drain.keys()
    assert direct["RecordsSubscription"] == drain["RecordsSubscription"]
    assert kinesis["StreamReader"] == drain["StreamReader"]


def test_no_mode_changes_what_anybody_may_do(deployed):
    """A right that is new with the stream, or gone with it, would race what needs it."""
    rights = [
        {name: one for name, one in deployed(Mode=mode).items() if RIGHT.match(one["Type"])}
        for mode in MODES
    ]
    assert rights[0]
    assert rights[0] == rights[1] == rights[2]


def test_the_filter_is_the_same_in_every_mode(deployed):
    """
    The same name on the same group: another mode moves it in one step, with no gap and no copy.
    """
    filters = [deployed(Mode=mode)["RecordsSubscription"]["Properties"] for mode in MODES]
    for member in ("FilterName", "FilterPattern", "LogGroupName"):
        assert 1 == len({properties[member] for properties in filters}), member


def test_the_filter_waits_for_its_destination(template):
    """A permission or a reader that is made later would make the deployment fail, or lines wait."""
    subscription = template["Resources"]["RecordsSubscription"]["Metadata"]["After"]
    ways = ["DeliversToStream", {"Ref": "StreamReader"}, {"Ref": "IngestPermission"}]
    assert {"Fn::If": ways} == subscription
    reader = template["Resources"]["StreamReader"]
    assert {"Fn::If": ["HasKmsKey", {"Ref": "KeyPolicy"}, ""]} == reader["Metadata"]["After"]


# --- the stream and its reader ---


def test_the_stream_scales_by_itself_unless_told_how_far(deployed):
    """On demand with 0 shards, which is no number of shards; else as many as asked for."""
    on_demand = deployed(Mode="kinesis")["RecordsStream"]["Properties"]
    assert on_demand["StreamModeDetails"] == {"StreamMode": "ON_DEMAND"}
    assert "ShardCount" not in on_demand
    provisioned = deployed(Mode="kinesis", StreamShards="3")["RecordsStream"]["Properties"]
    assert provisioned["StreamModeDetails"] == {"StreamMode": "PROVISIONED"}
    assert provisioned["ShardCount"] == "3"


def test_the_reader_gives_up_before_the_stream_forgets(deployed):
    """So that what is given up goes to the queue; the house rules hold the rest of it."""
    resources = deployed(Mode="kinesis")
    reader = resources["StreamReader"]["Properties"]
    kept_s = resources["RecordsStream"]["Properties"]["RetentionPeriodHours"] * 3600
    assert reader["MaximumRecordAgeInSeconds"] < kept_s
    assert ("<RecordsStream.Arn>", "TRIM_HORIZON") == (
        reader["EventSourceArn"],
        reader["StartingPosition"],
    )


def test_a_full_window_ends_before_a_minute_is_closed_without_it(template):
    """It is below half of the shortest grace; a longer window would be cheaper."""
    reader = template["Resources"]["StreamReader"]["Properties"]
    window_s = reader["MaximumBatchingWindowInSeconds"]
    assert window_s < template["Parameters"]["GraceSeconds"]["MinValue"] / 2
