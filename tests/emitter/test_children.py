"""The first process of a container waits for orphans, and leaves its own children alone."""

from __future__ import annotations

import subprocess
import sys

# As the first process of a container it inherits orphans; PR_SET_CHILD_SUBREAPER is 36.
INHERITS = """
import ctypes, os, sys, time
from emitter.children import reap_orphans, start_child

ctypes.CDLL(None).prctl(36, 1)
own = start_child([sys.executable, "-c", "raise SystemExit(7)"])
os.waitid(os.P_PID, own.pid, os.WEXITED | os.WNOWAIT)
reap_orphans()
print("own", own.wait())
parent = start_child(
    ["sh", "-c", "sleep 0 & echo $!"], stdout=-1
)
orphan = int(parent.communicate()[0])
while os.path.exists(f"/proc/{orphan}"):
    reap_orphans()
print("orphan gone")
reap_orphans()
"""


def test_orphans_are_reaped_and_own_children_keep_their_exit_code():
    """A second process cannot take the end of a child from the code that started it."""
    ended = subprocess.run(
        [sys.executable, "-c", INHERITS], capture_output=True, text=True, check=True, timeout=300
    )
    assert ["own 7", "orphan gone"] == ended.stdout.splitlines()
