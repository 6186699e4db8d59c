"""The name of a user id, on the machine itself and in a container."""

from __future__ import annotations

import pwd

import pytest

from emitter.owners import naming
from emitter.owners.naming import user_name
from emitter.owners.places import Places

SOMEBODY = next(one for one in pwd.getpwall() if one.pw_uid)
NOBODYS_ID = 3_999_999_999


@pytest.mark.parametrize(
    ("is_contained", "user_id", "expected"),
    [
        (False, SOMEBODY.pw_uid, pwd.getpwuid(SOMEBODY.pw_uid).pw_name),
        (True, SOMEBODY.pw_uid, str(SOMEBODY.pw_uid)), (False, NOBODYS_ID, str(NOBODYS_ID)),
        (False, 1 << 70, str(1 << 70)), (False, 0, "root"), (True, 0, "root"), (True, None, "?"),
    ],
)  # fmt: skip
def test_a_container_knows_other_users(monkeypatch, is_contained, user_id, expected):
    """There the same number is somebody else, but for root; the machine itself is asked."""
    monkeypatch.setattr(naming, "is_container", lambda _root: is_contained)
    assert expected == user_name(user_id, Places())
