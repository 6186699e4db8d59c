"""How a step ends: done and right, done and wrong, or not tried where it cannot be judged."""

from __future__ import annotations

from types import SimpleNamespace
from unittest.mock import Mock

import pytest

from neuron_emf.checks import exit_code, line
from proof.accept.steps import Step


@pytest.mark.parametrize(
    ("problems", "not_here", "is_embedded", "state"),
    [
        ([], "", True, "ok"),
        (["a", "b"], "", False, "failed"),
        ([], "it is no account", True, "not tried"),
        ([], "it is no account", False, "ok"),
    ],
)
def test_a_step_is_a_named_check(problems, not_here, is_embedded, state):
    """Only a problem fails; a step that cannot be judged does nothing and says why."""
    done = []

    def act(context):
        """Something holds."""
        done.append(context)
        return problems

    context = SimpleNamespace(
        place=Mock(is_embedded=is_embedded), journal=Mock(), notes=["of the step before"]
    )
    result = Step("deploy", act, not_here).result(context)
    assert (state, "deploy", "Something holds.") == (result.state, result.check, result.must_hold)
    assert (state == "failed") == bool(exit_code([result]))
    assert (state == "not tried") == (not done)
    assert done == [context] * len(done)
    assert ("a; b" if problems else not_here * (state == "not tried")) in line(result)
