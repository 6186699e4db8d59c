"""The name of a user id, on the machine that the process is of."""

from __future__ import annotations

import pwd
from pathlib import Path
from typing import TYPE_CHECKING, Final

from emitter.instance.machine import is_container
from emitter.instance.small_files import read_text

if TYPE_CHECKING:
    from emitter.owners.places import Places

PASSWORD_FILE: Final = "etc/passwd"  # noqa: S105 - a path
MAX_USER_CHARS: Final = 32  # of a name that useradd(8) takes


def user_name(user_id: int | None, places: Places) -> str:
    """
    As the machine calls the user, else the number, else a question mark.

    The passwd of a container knows other users by the same numbers. On the
    machine itself the user may be of a directory service, so the system is asked.
    """
    if user_id is None:
        return "?"
    if user_id == 0:
        return "root"
    if places.root != Path("/"):
        return _in_file(user_id, places.root) or str(user_id)
    if is_container(places.root):
        return str(user_id)
    try:
        return pwd.getpwuid(user_id).pw_name[:MAX_USER_CHARS] or str(user_id)
    except (KeyError, OverflowError):
        return str(user_id)


def _in_file(user_id: int, root: Path) -> str | None:
    for line in (read_text(root / PASSWORD_FILE) or "").splitlines():
        fields = line.split(":")
        if len(fields) > 2 and fields[2] == str(user_id):
            return fields[0][:MAX_USER_CHARS] or None
    return None
