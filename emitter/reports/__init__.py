"""
From neuron-monitor to typed reports.

* `source`          standard input, a file or a named pipe
* `monitor`         neuron-monitor as a supervised child
* `child`           a program as a child that leaves nothing behind
* `last_words`      the end of its standard error, fit to be shown
* `troubles`        what happens to the monitor, for the log and for events
* `monitor_config`  the configuration it is started with: ours, or a user's own
* `framing`         bytes cut into reports
* `report`          one report, typed and lenient
* `groups`          the groups of a runtime
* `system_groups`   the groups of the host and its devices
* `splits`          the physical cores behind logical ones
"""
