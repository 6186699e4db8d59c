"""
Run the emitter's readers of jobs with a clock that the caller sets.

`python -m proof.real.slurm_reader`: each line of standard input is a JSON object such as
`{"pass_s": 15, "pids": [4711]}`. The answer is one line with the schedulers' assignments and the
owners of the processes after that time. slurmctld, /proc and the control groups are real, but an
hour takes seconds.
"""

from __future__ import annotations

import json
import logging
import sys
from pathlib import Path

from neuron_emitter.owners.assignments import Allocation, with_job
from neuron_emitter.owners.lookup import OwnerLookup
from neuron_emitter.owners.places import Places
from neuron_emitter.owners.reservations import Reservations, schedulers_of
from neuron_emitter.owners.slurm import SlurmJobs


def main() -> None:
    """Answer until the end of the input."""
    logging.basicConfig(level=logging.INFO, format="%(message)s", stream=sys.stderr)
    places = Places.around(Path("/proc"))
    now_s = 1000.0
    jobs = SlurmJobs(places, clock=lambda: now_s, jitter=lambda: 0.5)
    slurm = next(
        scheduler._replace(sources=(jobs,))
        for scheduler in schedulers_of(places)
        if any(source.name == jobs.name for source in scheduler.sources)
    )
    reservations = Reservations((slurm,), clock=lambda: now_s, is_background=False)
    lookup = OwnerLookup(places, is_background=False)
    for line in sys.stdin:
        request = json.loads(line)
        left_s = request["pass_s"]
        reservations.read_schedulers()
        while left_s > 0:
            now_s += 15.0
            left_s -= 15.0
            reservations.read_schedulers()
        lookup.note_pids(request["pids"])
        lookup.look_up_pending()
        lookup.recheck_processes()
        given = reservations.current_assignments()
        owners = {str(pid): lookup.owner_of(pid) for pid in request["pids"]}
        assigned = [
            allocation for allocation in given.allocations if allocation.cores or allocation.devices
        ]
        answer = {
            "status": given.status,
            "allocations": [_plain(allocation) for allocation in assigned],
            "owners": {
                pid: owner and with_job(owner, given.allocations)._asdict()
                for pid, owner in owners.items()
            },
        }
        print(json.dumps(answer), flush=True)  # noqa: T201 - the answer


def _plain(allocation: Allocation) -> dict[str, object]:
    """Return the members of *allocation*, sets as sorted lists."""
    members = allocation._asdict()
    return {
        name: sorted(value) if isinstance(value, frozenset) else value
        for name, value in members.items()
    }


if __name__ == "__main__":
    main()
