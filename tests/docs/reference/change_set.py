"""What `neuron-emf deploy` shows of a change from kinesis to drain and a longer idle time."""

from __future__ import annotations

import io

from neuron_emf.deploy.change_set import ChangeSet, change_listing
from neuron_emf.deploy.stack import Stack
from neuron_emf.printing import console

BEFORE = {"Mode": "drain", "IdleAfterMinutes": "15", "AlarmEmail": "ops@example.org"}
CHANGES = [
    {"Action": action, "LogicalResourceId": resource, "ResourceType": kind}
    for action, resource, kind in (
        ("Modify", "CloseFunction", "AWS::Lambda::Function"),
        ("Modify", "ModeGuard", "Custom::ModeGuard"),
        ("Remove", "RecordsStream", "AWS::Kinesis::Stream"),
        ("Remove", "StreamReader", "AWS::Lambda::EventSourceMapping"),
    )
]


def shown():
    """The command and the block that it prints."""
    named = {"Mode": "direct", "IdleAfterMinutes": "30"}
    out = io.StringIO()
    change_set = ChangeSet("neuron-emf", "1", CHANGES, {**BEFORE, **named})
    for part in change_listing(change_set, Stack("neuron-emf", "UPDATE_COMPLETE", BEFORE, {})):
        console(out).print(part)
    lines = [line.rstrip() for line in out.getvalue().splitlines()]
    typed = " ".join(f"{name}={value}" for name, value in named.items())
    return "\n".join(["```", f"$ neuron-emf deploy {typed}", *lines, "```"])
