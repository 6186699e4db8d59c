"""
Find the owner of a runtime: from the pid in a report to a name that people group by.

The path of a process's control group shows what started it: a pod, an ECS task, a container, a
Slurm job or a systemd unit. The names for these IDs are in files and services of this machine. If
they cannot be read, the owner has no name; this is logged once and never costs a minute. Scheduler
assignments, used or not, come from the same places.

The package knows nothing of reports, records or settings. The root of the files and the addresses
of the services are arguments, so that tests can fake any machine.
"""
