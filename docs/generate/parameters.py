"""The template's parameters by group, its outputs, and the permissions of its roles by service."""

from __future__ import annotations

from collections import defaultdict

from docs.generate.markdown import code, codes, one_line, plain, table
from tests.stack.stack_template import as_list, statements

INTERFACE = "AWS::CloudFormation::Interface"


def groups(template):
    """Return a heading and a list for each group in the console."""
    found = []
    for group in template["Metadata"][INTERFACE]["ParameterGroups"]:
        rows = [row(name, template["Parameters"][name]) for name in group["Parameters"]]
        found.append(f"### {group['Label']['default']}\n\n{''.join(rows)}")
    return "\n".join(found)


def row(name, stated):
    """Return one parameter: its name, its default, the console's text and its choices."""
    default = code(stated["Default"]) or "empty"
    return (
        f"- {code(name)} ({default}): {plain(one_line(stated['Description']))}{choices(stated)}\n"
    )


def choices(stated):
    """Return its permitted values, if it lists them."""
    if "AllowedValues" not in stated or {"true", "false"} == set(stated["AllowedValues"]):
        return ""
    return f" One of {', '.join(code(value) or 'empty' for value in stated['AllowedValues'])}."


THERE = {
    None: "",
    "HasStream": "with a stream",
    "HasChat": "with `Chat`",
    "HasDashboard": "with `Dashboard`",
    "HasLedger": "with the ledger",
    "HasDigest": "with the digest",
}


def outputs(template):
    """Return an item for each output."""
    rows = []
    for name, stated in template["Outputs"].items():
        notes = [THERE[stated.get("Condition")], exported(stated)]
        words = "; ".join(filter(None, notes))
        end = f" ({words})" if words else ""
        rows.append(f"- {code(name)}{end}: {one_line(stated['Description'])}\n")
    return "".join(rows)


def exported(stated):
    """Return the export name for other stacks, empty for none."""
    if "Export" not in stated:
        return ""
    return "exported as `STACK-" + stated["Export"]["Name"]["Fn::Sub"].partition("-")[2] + "`"


ENDPOINT_SERVICES = {
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
"""Services that are not called from the VPC: Lambda or the data's service calls them."""

OF_INSTANCES = "EmitterPolicy"
ENDPOINTS_FOR_ANSWERS = {
    "s3": ["ModeGuard"]
}  # CloudFormation, through an S3 address that needs no permission


def rights(template):
    """Return a row for each service: the permissions a boundary must allow, and the functions."""
    functions = {
        resource["Properties"]["Role"]["Fn::GetAtt"].removesuffix(".Arn"): name.removesuffix(
            "Function"
        )
        for name, resource in template["Resources"].items()
        if name.endswith("Function")
    }
    actions = defaultdict(set)
    callers = defaultdict(dict)
    for role, statement in statements(template):
        if role == OF_INSTANCES:
            continue
        for action in as_list(statement["Action"]):
            service, _, operation = action.partition(":")
            actions[service].add(operation)
            if role in functions and service not in NOT_FROM_THE_VPC:
                callers[service][functions[role]] = None
    for service, names in ENDPOINTS_FOR_ANSWERS.items():
        callers[service].update(dict.fromkeys(names))
    rows = [
        [
            ENDPOINT_SERVICES[service],
            codes(f"{service}:{action}" for action in sorted(actions[service])),
            ", ".join(map(words, callers[service])),
        ]
        for service in sorted(actions, key=ENDPOINT_SERVICES.get)
    ]
    return table(["service", "actions", "functions that need a way to it"], rows)


def words(function):
    """Return a function's name as in pages."""
    return "the guard of the mode" if function == "ModeGuard" else function.lower()
