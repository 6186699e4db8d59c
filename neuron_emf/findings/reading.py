"""
What is open, out of the stack's table.

Not out of log lines: a finding may have been told weeks ago. Reading takes
`dynamodb:Query` on one partition, which a policy can name, and
`cloudformation:DescribeStacks` for the table's name.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from emitter.errors import SourceError
from neuron_emf.account import documented
from neuron_wire.findings import PARTITION, FindingsState

if TYPE_CHECKING:
    from neuron_emf.account import Account
    from neuron_wire.findings import FindingKey, OpenFinding

READ_TABLE: Final = "dynamodb:Query"
READ_STACK: Final = "cloudformation:DescribeStacks"
_TABLE_OUTPUT: Final = "RecordsTableName"


def read_findings(account: Account) -> tuple[list[tuple[FindingKey, OpenFinding]], int]:
    """
    What is open in the stack of *account*, the longest open first, and how many events wait.

    Raises:
        SourceError: If the stack or its table cannot be read.
    """
    findings: list[tuple[FindingKey, OpenFinding]] = []
    waiting = 0
    name = _table_name(account)
    with documented(READ_TABLE):
        pages = (
            account.client("dynamodb")
            .get_paginator("query")
            .paginate(
                TableName=name,
                KeyConditionExpression="pk = :pk",
                ExpressionAttributeValues={":pk": {"S": PARTITION}},
            )
        )
        for page in pages:
            for item in page["Items"]:
                state = FindingsState.unpacked(bytes(item["r"]["B"]))
                waiting += len(state.due)
                findings += state.findings.items()
    return sorted(findings, key=lambda pair: (pair[1].since, pair[0])), waiting


def _table_name(account: Account) -> str:
    with documented(READ_STACK):
        answer = account.client("cloudformation").describe_stacks(StackName=account.stack_name)
        outputs = answer["Stacks"][0].get("Outputs", ())
        names = {one["OutputKey"]: str(one["OutputValue"]) for one in outputs}
    if _TABLE_OUTPUT not in names:
        msg = (
            f"The stack {account.stack_name} has no output {_TABLE_OUTPUT}. "
            "Correct --stack-name, or wait until its deployment has finished."
        )
        raise SourceError(msg)
    return names[_TABLE_OUTPUT]
