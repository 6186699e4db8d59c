"""
A guessed name: the same over restarts, another on another machine, and no machine id in it.
"""

from __future__ import annotations

import socket

import pytest

from emitter.identity.machine import guessed_instance_id


def test_a_guess_stays_the_same_and_is_another_elsewhere(tmp_path):
    """
    A hash of the machine id, which is not to be published itself.
    """
    first, second = tmp_path / "first", tmp_path / "second"
    first.write_text("0123456789abcdef0123456789abcdef\n")
    second.write_text("fedcba9876543210fedcba9876543210\n")
    guess = guessed_instance_id(first)
    assert guess == guessed_instance_id(first)
    assert guess != guessed_instance_id(second)
    assert "host-" == guess[:5]
    assert 21 == len(guess)
    assert set(guess[5:]) <= set("0123456789abcdef")
    assert "0123456789abcdef" not in guess


@pytest.mark.parametrize("content", [None, b"", b"\n", b"\xff\xfe"])
def test_without_a_machine_id_the_host_name_counts(content, tmp_path, monkeypatch):
    """
    A container image often has an empty one: the same for all of them would merge instances.
    """
    path = tmp_path / "machine-id"
    if content is not None:
        path.write_bytes(content)
    monkeypatch.setattr(socket, "gethostname", lambda: "one")
    one = guessed_instance_id(path)
    monkeypatch.setattr(socket, "gethostname", lambda: "two")
    assert one != guessed_instance_id(path)


def test_systemds_placeholder_is_no_machine_id(tmp_path, monkeypatch):
    """
    `uninitialized` stands there on every first boot, says machine-id(5).
    """
    path = tmp_path / "machine-id"
    path.write_text("uninitialized\n")
    monkeypatch.setattr(socket, "gethostname", lambda: "one")
    one = guessed_instance_id(path)
    monkeypatch.setattr(socket, "gethostname", lambda: "two")
    assert one != guessed_instance_id(path)
