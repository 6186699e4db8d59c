"""The name of a user id, on the machine itself and in a container."""

from __future__ import annotations

import pwd

import pytest

from emitter.owners import users
from emitter.owners.places import Places
from emitter.owners.users import user_name

SOMEBODY = next(one for one in pwd.getpwall() if one.pw_uid)
NOBODYS_ID = 3_999_999_999


@pytest.mark.parametrize(
    ("is_contained", "user_id", "expected"),
    [
        (False, SOMEBODY.pw_uid, pwd.getpwuid(SOMEBODY.pw_uid).pw_name),
        (True, SOMEBODY.pw_uid, str(SOMEBODY.pw_uid)),
        (False, NOBODYS_ID, str(NOBODYS_ID)),
        (False, 1 << 70, str(1 << 70)),
        (False, 0, "root"),
        (True, 0, "root"),
        (True, None, "?"),
    ],
)
def test_a_container_knows_other_users(monkeypatch, is_contained, user_id, expected):
    """There the same number is somebody else, but for root; the machine itself is asked."""
    monkeypatch.setattr(users, "is_container", lambda _root: is_contained)
    assert expected == user_name(user_id, Places())


def test_the_passwd_of_the_host_is_read_where_it_is_mounted(tmp_path, monkeypatch):
    """Beside its /proc, also from a container."""
    monkeypatch.setattr(users, "is_container", lambda _root: True)
    (tmp_path / "etc").mkdir()
    (tmp_path / "etc" / "passwd").write_text("ada:x:1000:1000::/home/ada:/bin/sh\n")
    places = Places.beside(tmp_path / "proc")
    assert ["ada", "1001"] == [user_name(one, places) for one in (1000, 1001)]
