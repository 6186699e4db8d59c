"""
What people type, on a laptop or on an instance: one folder for each command.

* `top`           clusters, instances and cores now
* `report`        idle time and money of a period
* `cost`          the monthly bill
* `check`         is everything there that a first record needs
* `lint`          would CloudWatch extract this line
* `profile`       the summary of a profiler as a line beside the fleet's
* `completion`    what a shell needs to complete all this (a file)
* `monitor_config`  what neuron-monitor is asked for (a file)

Each folder has a module `command` with the click command, which `cli` imports when it is
called; `run` and `replay` are the emitter's own. What the commands share:

* `account`   the settings that name an account's stack, and the clients to read it
* `prices`    prices of whoever pays, in the words of the stack's parameter
* `figures`   idle cores, hours, shares and names as `top` and `report` show them
* `printing`  tables, colors and a progress bar for people, JSON for programs
* `reading`   log lines of a fleet, from CloudWatch Logs or from files

An emitter that runs imports none of it but `cli`.
"""
