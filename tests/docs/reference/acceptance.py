"""The steps of an acceptance."""

from __future__ import annotations

from proof.accept.steps import STEPS
from tests.docs.reference.markdown import code, table


def steps():
    """Each step, and whether the embedded AWS can judge it."""
    rows = [
        [
            code(step.name),
            step.sentence,
            f"not tried: {step.not_here}" if step.not_here else "judged",
        ]
        for step in STEPS
    ]
    return table(["step", "what it shows", "on the embedded AWS"], rows)
