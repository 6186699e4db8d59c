"""
Nothing that runs on AWS calls PutMetricData, and no role may do more than its code does.
"""

from __future__ import annotations

import ast
from fnmatch import fnmatchcase

import pytest

from aggregator import store

FORBIDDEN_NAMES = {"put_metric_data", "PutMetricData"}
FORBIDDEN_CLIENTS = {"cloudwatch"}  # boto3's name of the API that has it


def metric_calls(source):
    """
    Every attribute, name or whole text in *source* that can lead to PutMetricData.

    Prose is no call: a docstring may say that there is none.
    """
    found = []
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, (ast.Attribute, ast.Name)):
            name = node.attr if isinstance(node, ast.Attribute) else node.id
            found += [(node.lineno, name)] if name in FORBIDDEN_NAMES else []
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            is_forbidden = node.value in FORBIDDEN_NAMES | FORBIDDEN_CLIENTS
            found += [(node.lineno, node.value)] if is_forbidden else []
    return found


def sources(repository):
    """
    Every Python file that is installed on an instance or deployed to a function.
    """
    return [*(repository / "emitter").rglob("*.py"), *(repository / "lambda").rglob("*.py")]


def statements(template):
    """
    Every policy statement of the template, with the resource it stands in.
    """
    found = []
    for name, resource in template["Resources"].items():
        properties = resource["Properties"]
        documents = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
        if "PolicyDocument" in properties:
            documents.append(properties["PolicyDocument"])
        found += [(name, one) for document in documents for one in document["Statement"]]
    return found


def as_list(value):
    """
    IAM allows one text where it means a list of one.
    """
    return value if isinstance(value, list) else [value]


# --- no PutMetricData ---


def test_no_code_on_aws_or_on_an_instance_calls_the_metrics_api(repository):
    """
    Every metric comes from a log line.
    """
    assert sources(repository)
    calls = {
        str(path.relative_to(repository)): metric_calls(path.read_text(encoding="utf-8"))
        for path in sources(repository)
    }
    assert {} == {path: found for path, found in calls.items() if found}


@pytest.mark.parametrize(
    "source",
    [
        "client.put_metric_data(Namespace='n')",
        "boto3.client('cloudwatch')",
        "getattr(client, 'put_metric_data')",
        "put_metric_data = 1",
    ],
)
def test_a_planted_call_is_found(source):
    """
    By its name, by its client or by getattr.
    """
    assert metric_calls(source)


def test_no_policy_allows_the_metrics_api(template):
    """
    Not by name and not by a pattern that includes it.
    """
    assert statements(template)
    for name, statement in statements(template):
        for action in as_list(statement["Action"]):
            assert not fnmatchcase("cloudwatch:putmetricdata", action.lower()), name
            assert not action.lower().startswith("cloudwatch:"), name


# --- least privilege ---


def test_every_statement_names_its_actions_and_its_resource(template):
    """
    No wildcard in an action, no resource but one of this stack.
    """
    for name, statement in statements(template):
        assert statement["Effect"] == "Allow", name
        assert not {"NotAction", "NotResource"} & statement.keys(), name
        for action in as_list(statement["Action"]):
            assert "*" not in action, name
        for resource in as_list(statement["Resource"]):
            logical_id = str(resource["Fn::GetAtt"]).partition(".")[0]
            assert logical_id in template["Resources"], name


def test_no_policy_comes_from_elsewhere(template):
    """
    Managed policies and SAM's own would grant what no line here shows.
    """
    for name, resource in template["Resources"].items():
        properties = resource["Properties"]
        assert "ManagedPolicyArns" not in properties, name
        if resource["Type"] == "AWS::Serverless::Function":
            assert "Policies" not in properties, name
            assert "Fn::GetAtt" in properties["Role"], name


def test_every_permission_says_who_and_from_where(template):
    """
    SourceArn and SourceAccount: nobody else's log group can invoke a function.
    """
    permissions = {
        name: resource["Properties"]
        for name, resource in template["Resources"].items()
        if resource["Type"] == "AWS::Lambda::Permission"
    }
    assert permissions
    for name, properties in permissions.items():
        assert properties["SourceArn"] == {"Fn::GetAtt": "RecordsLogGroup.Arn"}, name
        assert properties["SourceAccount"] == {"Ref": "AWS::AccountId"}, name


def test_the_emitter_may_write_its_lines_and_nothing_else(template):
    """
    Two actions on one log group.
    """
    (statement,) = [one for name, one in statements(template) if name == "EmitterPolicy"]
    assert sorted(statement["Action"]) == ["logs:CreateLogStream", "logs:PutLogEvents"]
    assert statement["Resource"] == {"Fn::GetAtt": "RecordsLogGroup.Arn"}


def allowed_on_table(template, role):
    """
    The DynamoDB actions of one role.
    """
    return {
        action
        for name, statement in statements(template)
        if name == role
        for action in as_list(statement["Action"])
        if action.startswith("dynamodb:")
    }


def test_the_functions_may_call_what_the_store_calls(template):
    """
    Together the two roles have every operation of the client that the store uses, and no other.
    """
    operations = {
        "dynamodb:" + "".join(word.title() for word in name.split("_"))
        for name in vars(store._Client)
        if not name.startswith("_")
    }
    roles = allowed_on_table(template, "IngestRole") | allowed_on_table(template, "CloseRole")
    assert operations == roles


def test_ingest_only_writes(template):
    """
    It puts records and markers, and never has to read one.
    """
    assert {"dynamodb:BatchWriteItem"} == allowed_on_table(template, "IngestRole")
