"""The thread that looks for owners: it holds nobody up, and finds what happens by itself."""

from __future__ import annotations

import os
import subprocess
import threading

import played_machines as machines
from played_machines import CONTAINER

from emitter.owners import lookup
from emitter.owners.lookup import OwnerLookup
from emitter.owners.places import Places
from proof.emitter_process import wait_until


def test_a_service_that_hangs_holds_nobody_up(played, play):
    """The reader sees and asks while the thread waits for an answer that does not come."""
    agent = play()
    agent.routes[f"/v1/tasks?dockerid={CONTAINER}"] = agent.never
    played.urls["ecs_agent_url"] = agent.url
    played.process(groups=machines.ECS_V2)
    owners = OwnerLookup(played.places)
    try:
        owners.note_pids([42])
        wait_until(lambda: agent.asked)
        for pid in range(2, 2000):
            owners.note_pids([42, pid])
            assert owners.owner_of(42) is owners.owner_of(pid) is None
        assert "owners" in {thread.name for thread in threading.enumerate()}
    finally:
        owners.close()


def test_the_thread_finds_a_real_process_and_its_end(monkeypatch):
    """On the /proc of this machine, and by itself."""
    monkeypatch.setattr(lookup, "AGAIN_S", 0.05)
    child = subprocess.Popen(["sleep", "60"])
    owners = OwnerLookup(Places())
    try:
        owners.note_pids([child.pid, os.getpid()])
        wait_until(lambda: owners.owner_of(child.pid))
        wait_until(lambda: owners.owner_of(os.getpid()))
        child.kill()
        child.wait()
        wait_until(lambda: owners.owner_of(child.pid) is None)
        assert owners.owner_of(os.getpid())
    finally:
        child.kill()
        child.wait()
        owners.close()
    wait_until(lambda: "owners" not in {thread.name for thread in threading.enumerate()})
