"""What the stack's roles may do, by service, and which functions in a VPC ask for it themselves."""

from __future__ import annotations

from collections import defaultdict

from tests.docs.reference.markdown import codes, table
from tests.stack.stack_template import as_list, statements

SERVICES = {
    "cloudformation": "CloudFormation",
    "dynamodb": "DynamoDB (gateway endpoint)",
    "ec2": "EC2",
    "events": "EventBridge",
    "kinesis": "Kinesis Data Streams",
    "kms": "KMS",
    "lambda": "Lambda",
    "logs": "CloudWatch Logs",
    "s3": "S3 (gateway endpoint)",
    "sns": "SNS",
    "sqs": "SQS",
    "xray": "X-Ray",
}
NOT_FROM_THE_VPC = {"kinesis", "kms", "logs", "sqs"}
"""What Lambda itself, or the service that holds the data, does with a function's role."""

OF_INSTANCES = "EmitterPolicy"
ANSWERS = {"s3": ["ModeGuard"]}  # CloudFormation, by an address of S3 that needs no right


def rights(template):
    """A row for each service: what a boundary must allow, and who needs a way to it."""
    functions = {
        resource["Properties"]["Role"]["Fn::GetAtt"].removesuffix(".Arn"): name.removesuffix(
            "Function"
        )
        for name, resource in template["Resources"].items()
        if name.endswith("Function")
    }
    actions, callers = defaultdict(set), defaultdict(dict)
    for role, statement in statements(template):
        if role == OF_INSTANCES:
            continue
        for action in as_list(statement["Action"]):
            service, _, operation = action.partition(":")
            actions[service].add(operation)
            if role in functions and service not in NOT_FROM_THE_VPC:
                callers[service][functions[role]] = None
    for service, names in ANSWERS.items():
        callers[service].update(dict.fromkeys(names))
    rows = [
        [
            SERVICES[service],
            codes(f"{service}:{action}" for action in sorted(actions[service])),
            ", ".join(map(words, callers[service])),
        ]
        for service in sorted(actions, key=SERVICES.get)
    ]
    return table(["service", "actions", "functions that need a way to it"], rows)


def words(function):
    """A function's name as pages have it."""
    return "the guard of the mode" if function == "ModeGuard" else function.lower()
