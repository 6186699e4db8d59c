"""No code on AWS calls PutMetricData, and no role permits more than its code needs."""

from __future__ import annotations

import ast

import pytest

from tests.stack.stack_template import as_list, statements

FORBIDDEN_NAMES = {"put_metric_data", "PutMetricData"}
FORBIDDEN_CLIENTS = {"cloudwatch"}  # boto3's name of the service with PutMetricData
RECORDS_LOG_GROUP = {
    "Fn::Sub": "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}"
    ":log-group:${LogGroupName}:*"
}
# by name, which begins with the stack's name: the permission exists before the stream
STREAM_RESOURCE = {
    "Fn::Sub": "arn:${AWS::Partition}:kinesis:${AWS::Region}:${AWS::AccountId}"
    ":stream/${AWS::StackName}-RecordsStream-*"
}
BUS = {  # by name, which is a parameter
    "Fn::Sub": "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}"
    ":event-bus/${FindingsBus}"
}
NETWORK = {  # permissions that Lambda needs for a function in a VPC
    f"ec2:{action}"
    for action in (
        *("AssignPrivateIpAddresses", "CreateNetworkInterface", "DeleteNetworkInterface"),
        *("DescribeNetworkInterfaces", "DescribeSubnets", "UnassignPrivateIpAddresses"),
    )
}
BUCKET_RESOURCES = [  # by name: another stack may have created it
    {
        "Fn::Sub": [
            f"arn:${{AWS::Partition}}:s3:::${{Name}}{objects}",
            {"Name": {"Fn::If": ["MakesLedgerBucket", {"Ref": "LedgerBucket"}, {"Ref": name}]}},
        ]
    }
    for objects in ("", "/ledger/*")
    for name in ("LedgerBucketName",)
]
ANY_RESOURCE_ACTIONS = NETWORK | {"ec2:DescribeInstances"}  # actions without a resource


def metric_calls(source):
    """
    Return every attribute, name or whole text in *source* that can lead to PutMetricData.

    A docstring with the name in its text is not a call.
    """
    calls = []
    for node in ast.walk(ast.parse(source)):
        names = {getattr(node, "attr", ""), getattr(node, "id", "")} & FORBIDDEN_NAMES
        if isinstance(node, ast.Constant):
            names = {node.value} & (FORBIDDEN_NAMES | FORBIDDEN_CLIENTS)
        calls += [(getattr(node, "lineno", 0), name) for name in names]
    return calls


def sources(repository):
    """Yield every Python file that runs on an instance or in a function."""
    return [*(repository / "emitter").rglob("*.py"), *(repository / "lambda").rglob("*.py")]


# --- no PutMetricData ---


def test_no_code_on_aws_or_on_an_instance_calls_the_metrics_api(repository):
    """No code on AWS or on an instance calls PutMetricData: every metric comes from a log line."""
    assert sources(repository)
    calls = {
        str(path.relative_to(repository)): metric_calls(path.read_text(encoding="utf-8"))
        for path in sources(repository)
    }
    assert {} == {path: names for path, names in calls.items() if names}


# --- least privilege ---


def ways_of(resource):
    """Return the possible resources of a statement under any condition of the template."""
    if "Fn::If" not in resource:
        return [resource]
    _, *branches = resource["Fn::If"]
    return [way for branch in branches for way in ways_of(branch)]


def test_every_statement_names_its_actions_and_its_resource(template):
    """
    A statement has no wildcard in an action, and only resources of this stack or its parameters.
    """
    ours = template["Resources"].keys() | template["Parameters"].keys()
    for name, statement in statements(template):
        assert statement["Effect"] == "Allow", name
        assert not {"NotAction", "NotResource"} & statement.keys(), name
        actions = as_list(statement["Action"])
        assert not [action for action in actions if "*" in action], name
        for resource in as_list(statement["Resource"]):
            if resource in (STREAM_RESOURCE, BUS, *BUCKET_RESOURCES, {"Ref": "AWS::StackId"}):
                continue
            if resource in ("*", RECORDS_LOG_GROUP):
                assert resource == RECORDS_LOG_GROUP or ANY_RESOURCE_ACTIONS >= set(actions), name
                continue
            for way in ways_of(resource):
                (reference,) = way.values()
                assert str(reference).removeprefix("${").partition(".")[0] in ours, name


@pytest.mark.parametrize("cluster", ["", "training"])
def test_every_rule_may_leave_what_it_cannot_deliver(deployed, cluster):
    """The queue accepts events from each rule and from no other sender; a rule has no role."""
    resources = deployed(ClusterName=cluster)
    rules = {
        f"<{name}.Arn>"
        for name, resource in resources.items()
        if resource["Type"] == "AWS::Events::Rule"
    }
    policy = resources["UndeliveredQueuePolicy"]["Properties"]["PolicyDocument"]
    (statement,) = policy["Statement"]
    assert statement["Principal"] == {"Service": "events.amazonaws.com"}
    assert statement["Action"] == "sqs:SendMessage"
    assert rules == set(statement["Condition"]["ArnLike"]["aws:SourceArn"])
