"""
A simulated neuron-monitor: `python -m local.monitor`.

On its command line and on its standard output it is neuron-monitor as captured
on inf1, inf2 and trn1 and as documented for trn2, and no more than that: what
it adds (the instance to play, the scenario, the truth) comes in options of its
own or in variables, so that the emitter starts it like the real one. The script
`neuron-monitor` beside this file is what the emitter is given as its command.

* `command_line`   options, variables, exit codes
* `configuration`  the real one's JSON configuration: which groups, how often
* `hosts`          what an instance of each type looks like around its cores
* `scenarios`      what is going on: who holds which cores, and how it ends
* `instance`       one instance playing one scenario: what is true at a report
* `processes`      its `/proc`, and the files that say who owns a process
* `load`           how busy a core is, and what its executions take
* `runtime_groups`, `memory_groups`, `system_groups`, `report`  how neuron-monitor says so
* `schedule`       which groups are due when, and why never near a full minute
* `output`         writing to a reader that may be slow or gone; signals
* `play`           all of it together
* `truth_log`      writes down what was produced, beside the report
* `truth`          reads that, and says what a minute must come to
* `truth_lines`, `expected`  what `truth` reads and what it says

`truth` shares no code with the emitter, the aggregator or the simulator itself.
"""
