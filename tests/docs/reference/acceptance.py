"""The steps of an acceptance, and which beliefs their recordings decide."""

from __future__ import annotations

from local.differences import DIFFERENCES
from proof.accept.steps import FACTS, STEPS
from tests.docs.reference.markdown import code, table
from tests.recorded.test_recorded_answers import ANSWERS


def steps():
    """Each step, and whether the embedded AWS can judge it."""
    rows = [
        [code(step.name), step.sentence, f"named: {step.not_here}" if step.not_here else "judged"]
        for step in STEPS
    ]
    return table(["step", "what it shows", "on the embedded AWS"], rows)


def decides():
    """What is believed of AWS, how it is known today, and the recording that would decide."""
    basis = {row.part: row.basis for row in DIFFERENCES}
    rows = [
        [
            fact.part,
            "recorded" if (ANSWERS / f"{fact.step}.jsonl").exists() else basis[fact.part],
            code(fact.step),
        ]
        for fact in FACTS
    ]
    return table(["of AWS", "known by", "decided by the recording of"], rows)
