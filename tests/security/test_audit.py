"""The audit of the pins says what it knows, and never that all is well when nobody answered."""

from __future__ import annotations

from proof.audit import pins


def test_every_file_of_pins_is_asked_about():
    """What runs on instances, on Lambda, and what tests, builds and measures."""
    assert {"lambda/requirements.txt", "requirements/emitter.txt", "requirements/dev.txt"} <= set(
        pins()
    )
