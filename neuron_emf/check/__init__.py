"""
`neuron-emf check`: is everything there that a first record needs.

It reads, tries and changes nothing, but for one log stream and one log line of
its own, which no consumer takes for a record.

* `command`        the click command
* `settings`       those of `run`, and which stack
* `course`         which checks there are, in which order, and what each waits for
* `finding`        the result of one check
* `origin`         where the value of a setting came from
* `configuration`  settings that contradict, or that nothing can be done with
* `monitor`        neuron-monitor answers
* `devices`        what its first report says of cores
* `identity`       which cluster, which instance
* `asking`         one question to AWS, and what its answer means
* `credentials`    region, caller, clock
* `groups`         the log groups, and their class
* `extraction`     account policies that disable EMF
* `subscription`   the way of the lines to the stack
* `probe`          one line written and read back
* `spool`          the folder that keeps records
* `attribution`    whether owners can be named
* `kernel_log`     whether hardware faults are counted
* `outputs`        the agent's socket, a file, standard output
* `quick`          the emitter that runs here, for a health check
* `showing`        the findings for people and for programs
"""
