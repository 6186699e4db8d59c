"""
What an operator types, on a laptop or on an instance: one room for each command.

* `top`          clusters, instances and cores now
* `idle_report`  idle time and money of a period
* `cost`         the monthly bill
* `check`        is everything there that a first record needs
* `lint`         would CloudWatch extract this line
* `profile`      the summary of a profiler as a line beside the fleet's
* `completion`   what a shell needs to complete all this

Each room has a module `command` with the click command; nothing else knows
click, and `emitter.cli` imports a room when its command is called. What the
rooms share:

* `account`          the settings that name an account's stack, and the clients to read it
* `price_overrides`  prices of whoever pays, in the words of the stack's parameter
* `printing`         tables, colours and `progress_bar` for people, JSON for programs
* `reading`          log lines of a fleet, from CloudWatch Logs or from files

An emitter that runs imports none of it.
"""
