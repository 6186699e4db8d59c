"""The audit of the pins says what it knows, and never that all is well when nobody answered."""

from __future__ import annotations

import json

import pytest

from proof.audit import Audited, pins, verdict


def answer(**packages):
    """What pip-audit prints: for each package its vulnerabilities, or None when nobody knows it."""
    found = [
        {"name": name, "skip_reason": "not found"}
        if ids is None
        else {"name": name, "version": "1", "vulns": [{"id": one} for one in ids]}
        for name, ids in packages.items()
    ]
    return json.dumps({"dependencies": found, "fixes": []})


@pytest.mark.parametrize(
    ("packages", "row", "code"),
    [
        ({"a": [], "b": []}, (2, 0, 0), 0),
        ({"a": [], "b": None}, (2, 1, 0), 3),
        ({"a": ["CVE-2", "CVE-1"], "b": None}, (2, 1, 1), 1),
    ],
    ids=["clean", "unanswered", "known"],
)
def test_nobody_s_answer_is_not_a_clean_one(packages, row, code):
    """pip-audit itself ends with 0 when it could ask about nothing."""
    found = Audited.of(answer(**packages))
    assert row == (found.packages, len(found.unanswered), len(found.known))
    assert code == verdict([Audited.of(answer(c=[])), found])


def test_what_is_known_is_named():
    """Package, release, and the vulnerabilities in order."""
    assert ("a 1: CVE-1, CVE-2",) == Audited.of(answer(a=["CVE-2", "CVE-1"], b=[])).known


@pytest.mark.parametrize("text", ["", "{}", answer()])
def test_an_answer_about_nothing_is_no_answer(text):
    """An audit of no package would pass for ever."""
    with pytest.raises((ValueError, KeyError)):
        Audited.of(text)


def test_every_file_of_pins_is_asked_about():
    """What runs on instances, on Lambda, and what tests, builds and measures."""
    assert {"lambda/requirements.txt", "requirements/emitter.txt", "requirements/dev.txt"} <= set(
        pins()
    )
