"""
Whose a runtime is: from the pid in a report to a name that people group by.

The kernel says which control group a process is in, and that path says what
started it: a pod, an ECS task, a container, a Slurm job, a systemd unit. The
names behind the ids are files and services of this very host. Where nothing
can be seen there is no name, said once; it never costs a minute.

Nothing here knows reports, records or settings. The root of the files and the
addresses of the services are arguments, so that every machine can be played.

* `places`      where to look: files and addresses
* `reach`       whether anything can be seen, and what cannot
* `process`     one process of `/proc`, read while it may end
* `membership`  what the path of a control group says
* `container`   a container's name and labels, from the engine's own files
* `kubernetes`  namespace, pod and container
* `ecs`         service, task family and container
* `endpoint`    a service of this host that may not be there
* `users`       the name of a user id
* `presence`    whether a pod or a job is still here
* `naming`      the order in which all of these are asked
* `lookup`      whether to ask, the thread that does, and what it knows already
"""

from emitter.owners.lookup import OwnerLookup, owners_of, saved_owners
from emitter.owners.places import Places
from emitter.owners.reach import Reach, reach, sees_sluids

__all__ = ["OwnerLookup", "Places", "Reach", "owners_of", "reach", "saved_owners", "sees_sluids"]
