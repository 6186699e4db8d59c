"""What the account lets an emitter do is what the stack's policy lets it do."""

from __future__ import annotations

from local.alarms.template import load_template
from proof.account.account_faults import EMITTER_ACTIONS
from tests.stack.policy_statements import as_list, statements


def test_the_emitters_permissions_are_those_of_the_stacks_policy(repository):
    """With them alone nothing can be read or described."""
    template = load_template(repository / "template.yaml")
    granted = {
        action
        for name, statement in statements(template)
        if name == "EmitterPolicy"
        for action in as_list(statement["Action"])
    }
    assert granted == EMITTER_ACTIONS
