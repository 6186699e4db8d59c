"""
Whose a runtime is: from the pid in a report to a name that people group by.

The kernel has the control group of a process, and its path shows what started it:
a pod, an ECS task, a container, a Slurm job, a systemd unit. The names behind
the ids are in files and services of this machine. Where nothing can be read there
is no name, which is logged once; it never costs a minute. The assignments of
schedulers, used or not, are read in the same places.

Nothing here knows reports, records or settings. The root of the files and the
addresses of the services are arguments, so that tests can fake any machine.
"""
