"""
`neuron-emf check`: is everything there that a first record needs.

It reads, tries and changes nothing, but for one log stream and one log line of
its own, which no consumer takes for a record.

* `command`         the click command
* `settings`        those of `run`, which stack, and where each value came from
* `sequence`        which checks there are, in which order, and what each waits for
* `result`          how one check ended, and sections of them
* `configuration`   settings that contradict, or that nothing can be done with
* `neuron_monitor`  neuron-monitor answers, and what its first report says of cores
* `identity`        which cluster, which instance
* `aws_sequence`    the checks that ask AWS, and what each waits for
* `aws_client`      one question to AWS, and what its answer means
* `credentials`     caller and clock
* `log_groups`      the log groups, their class, and what a policy calls them
* `extraction`      account policies that disable EMF
* `subscription`    the way of the lines to the stack
* `probe`           one line written and read back
* `this_machine`    owners, kernel messages, the agent's socket, a file, standard output
* `spool`           the folder that keeps records
* `quick`           the emitter that runs here, for a health check
* `listing`         the results for people and for programs
"""
