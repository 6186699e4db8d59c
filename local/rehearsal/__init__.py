"""
The whole of neuron-emf on one machine: `python -m local.rehearsal`.

* `command_line`  options, exit codes, the report at the end
* `acts`          the acts of one rehearsal, in order
* `stage`         what it starts and leaves nothing of: processes, one folder, signals
* `fleet`         two clusters of simulated instances, and the emitters on them
* `jobs`          commands that end by themselves, a few at once
* `past`          an hour of their history, delivered by the emitter's own code
* `stack`         the deployed stack through its public APIs
* `profiles`      profiles of two models, by the command that people type
* `waiting`       until its functions have done what they were given to do
* `figures`       what the rollups say: by their lines and by their metrics
* `overview`      one row per cluster: newest rollup, states of its alarms
* `alarm_board`   the state of every alarm of the template
* `page`          `neuron-emf page` on its account, and the port that it gets
* `notice`        what people would be told of an alarm that rings
* `event_queue`   what programs would be told: the events of findings
* `described_fleet`  the fleet as EC2 describes it
* `guard_answers`  what `neuron-emf stoppable` says of the idle instances
* `table`         the rows for people
* `expectation`   what the rollups must come to, by the simulators' truth files
* `verdict`       the figures against what the simulators say they produced
* `limits`        what a rehearsal cannot show, said aloud
"""
