"""
Whose a runtime is: from the pid in a report to a name that people group by.

The kernel says which control group a process is in, and that path says what
started it: a pod, an ECS task, a container, a Slurm job, a systemd unit. The
names behind the ids are files and services of this very host. Where nothing
can be seen there is no name, said once; it never costs a minute.

Nothing here knows reports, records or settings. The root of the files and the
addresses of the services are arguments, so that every machine can be played.
"""

from emitter.owners.lookup import OwnerLookup, owners_of, saved_owners
from emitter.owners.places import Places
from emitter.owners.reach import Reach, reach, sees_sluids

__all__ = ["OwnerLookup", "Places", "Reach", "owners_of", "reach", "saved_owners", "sees_sluids"]
