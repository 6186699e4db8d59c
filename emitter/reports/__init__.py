"""
From neuron-monitor to typed reports.

* `source`          standard input, a file or a named pipe
* `monitor`         neuron-monitor as a supervised child
* `monitor_config`  the configuration it is started with
* `framing`         bytes cut into reports
* `report`          one report, typed and lenient
* `groups`          the groups of a report
"""
