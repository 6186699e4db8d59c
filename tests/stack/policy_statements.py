"""The statements of a template's policies, as one reads them."""

from __future__ import annotations

IDENTITY_POLICIES = {"AWS::IAM::Role", "AWS::IAM::Policy", "AWS::IAM::ManagedPolicy"}


def statements(template):
    """
    Every statement of an identity policy, with the resource it stands in; both ways of a choice.
    """
    found = []
    for name, resource in template["Resources"].items():
        if resource["Type"] not in IDENTITY_POLICIES:
            continue
        properties = resource["Properties"]
        documents = [policy["PolicyDocument"] for policy in properties.get("Policies", [])]
        if "PolicyDocument" in properties:
            documents.append(properties["PolicyDocument"])
        for document in documents:
            for statement in document["Statement"]:
                ways = statement["Fn::If"][1:] if "Fn::If" in statement else [statement]
                found += [(name, way) for way in ways if way != {"Ref": "AWS::NoValue"}]
    return found


def as_list(value):
    """IAM allows one text where it means a list of one."""
    return value if isinstance(value, list) else [value]
