"""The steps of an acceptance."""

from __future__ import annotations

from proof.accept.steps import STEPS
from tests.docs.reference.markdown import code


def steps():
    """Each step, and why the embedded AWS cannot judge it."""
    return "".join(
        f"- {code(step.name)}: {step.sentence}"
        f"{f' Not on the emulator: {step.not_here}.' if step.not_here else ''}\n"
        for step in STEPS
    )
