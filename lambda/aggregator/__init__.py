"""
The half of neuron-emf that runs in AWS: minute records in, cluster rollups out.

Handlers, one for each function of the template:

* `ingest`       the emitters' lines into the table
* `close`        each minute, one rollup per cluster
* `departure`    an instance that EC2 stopped, so that nobody calls it silent
* `explain`      an alarm that changed state, as a message that a person can act on

What they call, from the outside in:

* `runtime`      Powertools: logging, self-metrics, the events of both modes
* `unpacking`    what CloudWatch Logs compressed, in bounded memory
* `deployed`     what a function is given once: its settings and the table
* `environment`  what the template tells the functions
* `aws`          calls of AWS: boto3
* `intake`       which log lines become records, which are dropped and why
* `closing`      which minutes are reduced and published, and what is remembered of them
* `rollups`      the records of one cluster and minute become its numbers and its lines
* `explaining`   what an alarm means, whom it concerns, what to do
* `storage`      the table, and what stands where in it
* `minutes`      minutes as numbers and as text
"""
