"""Summaries to profile, and what becomes of them."""

from __future__ import annotations

import json
from pathlib import Path

from neuron_emf.profile.line import ProfileSubject, profile_of
from neuron_emf.profile.summaries import Summary, summaries_in
from neuron_wire.catalogue import undocumented
from neuron_wire.emf import violations

FOLDER = Path(__file__).resolve().parents[2] / "data" / "profile"
AT_MS = 1_795_161_600_000  # 2026-11-20T08:00:00Z
SUBJECT = ProfileSubject("training", "llama-8b", None, AT_MS)


def made(name):
    """The summaries in a file of the tests."""
    return summaries_in(FOLDER / f"{name}.json")


def profile(subject=SUBJECT, name="", **values):
    """What becomes of a summary of *values*."""
    return profile_of(Summary("made.json", name, values), subject)


def line(**values):
    """The line of a summary of *values*, as a document that CloudWatch takes."""
    text = profile(**values).line
    assert "_aws" not in text or [] == violations(text)
    found = json.loads(text)
    assert [] == undocumented(found)
    return found
