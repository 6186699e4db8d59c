"""
The half of neuron-emf that runs in AWS: minute records in, cluster rollups out.

One folder for each function of the template, whose handler it exports (`departure` is a file):

* `ingest`       the emitters' lines into the table
* `close`        each minute, one rollup per cluster
* `settle`       each hour, the ledger: what each owner had of each instance
* `digest`       each week, what idle cores cost, as a message
* `departure`    an instance that EC2 stopped, so that nobody calls it silent
* `explain`      an alarm that changed state, as a message that a person can act on

What they call, from the outside in:

* `runtime`      what every handler has: settings and the table, logging, self-metrics, its lines
* `environment`  what the template tells the functions
* `aws`          calls of AWS: boto3
* `arrivals`     what CloudWatch Logs delivers, unpacked in bounded memory
* `reading`      the records of minutes, read again in several processes
* `rollups`      the records of one cluster and minute become its numbers and its lines
* `storage`      the table, and what stands where in it
* `minutes`      minutes as numbers and as text
* `named_hour`   the hour that an event names
"""
