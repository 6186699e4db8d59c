"""Nothing that runs on AWS calls PutMetricData, and no role may do more than its code does."""

from __future__ import annotations

import ast

import pytest

from tests.stack.stack_template import as_list, statements

FORBIDDEN_NAMES = {"put_metric_data", "PutMetricData"}
FORBIDDEN_CLIENTS = {"cloudwatch"}  # boto3's name of the API that has it
RECORDS_LOG_GROUP = {
    "Fn::Sub": "arn:${AWS::Partition}:logs:${AWS::Region}:${AWS::AccountId}"
    ":log-group:${LogGroupName}:*"
}
# by its name, which CloudFormation begins with the stack's: the right is older than it
STREAM_RESOURCE = {
    "Fn::Sub": "arn:${AWS::Partition}:kinesis:${AWS::Region}:${AWS::AccountId}"
    ":stream/${AWS::StackName}-RecordsStream-*"
}
BUS = {  # by its name, which is a parameter
    "Fn::Sub": "arn:${AWS::Partition}:events:${AWS::Region}:${AWS::AccountId}"
    ":event-bus/${FindingsBus}"
}
NETWORK = {  # what Lambda needs of a role whose function is in a VPC
    f"ec2:{action}"
    for action in (
        *("AssignPrivateIpAddresses", "CreateNetworkInterface", "DeleteNetworkInterface"),
        *("DescribeNetworkInterfaces", "DescribeSubnets", "UnassignPrivateIpAddresses"),
    )
}
BUCKET_RESOURCES = [  # by its name: it may be one that the stack did not create
    {
        "Fn::Sub": [
            f"arn:${{AWS::Partition}}:s3:::${{Name}}{objects}",
            {"Name": {"Fn::If": ["MakesLedgerBucket", {"Ref": "LedgerBucket"}, {"Ref": name}]}},
        ]
    }
    for objects in ("", "/ledger/*")
    for name in ("LedgerBucketName",)
]
ANY_RESOURCE_ACTIONS = NETWORK | {"ec2:DescribeInstances"}  # know no resources


def metric_calls(source):
    """
    Every attribute, name or whole text in *source* that can lead to PutMetricData.

    Prose is no call: a docstring may say that there is none.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        names = {getattr(node, "attr", ""), getattr(node, "id", "")} & FORBIDDEN_NAMES
        if isinstance(node, ast.Constant):
            names = {node.value} & (FORBIDDEN_NAMES | FORBIDDEN_CLIENTS)
        found += [(getattr(node, "lineno", 0), name) for name in names]
    return found


def sources(repository):
    """Every Python file that runs on an instance or in a function."""
    return [*(repository / "emitter").rglob("*.py"), *(repository / "lambda").rglob("*.py")]


# --- no PutMetricData ---


def test_no_code_on_aws_or_on_an_instance_calls_the_metrics_api(repository):
    """Every metric comes from a log line."""
    assert sources(repository)
    calls = {
        str(path.relative_to(repository)): metric_calls(path.read_text(encoding="utf-8"))
        for path in sources(repository)
    }
    assert {} == {path: found for path, found in calls.items() if found}


# --- least privilege ---


def ways_of(resource):
    """What a resource of a statement may be, whichever conditions of the template are true."""
    if "Fn::If" not in resource:
        return [resource]
    _, *branches = resource["Fn::If"]
    return [way for branch in branches for way in ways_of(branch)]


def test_every_statement_names_its_actions_and_its_resource(template):
    """
    No wildcard in an action, and no resource that is not of this stack or one of its parameters.
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
    """
    The queue takes from each rule that there is and from no other; a rule has no role to send with.
    """
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
