"""
Whose a runtime is: from the pid in a report to a name that people group by.

The kernel says which control group a process is in, and that path says what
started it: a pod, an ECS task, a container, a Slurm job, a systemd unit. The
names behind the ids are files and services of this very host. Where nothing
can be seen there is no name, said once; it never costs a minute. What schedulers
have given, used or not, is read beside it.

Nothing here knows reports, records or settings. The root of the files and the
addresses of the services are arguments, so that every machine can be played.
"""

from emitter.owners.lookup import OwnerLookup, owners_of, saved_owners
from emitter.owners.places import Places
from emitter.owners.reach import Reach, reach, sees_sluids
from emitter.owners.reservations import Reservations, given_of, saved_given, schedulers_of

__all__ = [
    "OwnerLookup",
    "Places",
    "Reach",
    "Reservations",
    "given_of",
    "owners_of",
    "reach",
    "saved_given",
    "saved_owners",
    "schedulers_of",
    "sees_sluids",
]
