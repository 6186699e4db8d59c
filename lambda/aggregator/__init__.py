"""
The half of neuron-emf that runs in AWS: minute records in, cluster rollups out.

* `ingest`       handler: a CloudWatch Logs subscription event into the table
* `close`        handler: each minute, one rollup line per cluster

What they call, from the outside in:

* `runtime`      Powertools: logging, self-metrics, the subscription event
* `environment`  what the template tells both functions
* `intake`       which log lines become records, which are dropped and why
* `closing`      which minutes are reduced and published, and in what order
* `registry`     which instances there are, and which have gone silent
* `merge`        several records of one instance and minute become one
* `rollup`       the records of one cluster and minute become its numbers
* `percentiles`  percentiles of values that are only counted
* `idle_cost`    what an idle core costs
* `publication`  what of a rollup has been published, and what is still due
* `publishing`   a rollup as one EMF line
* `item`         a record as a table item, and back
* `table`        what both functions ask of the table
* `layout`       what stands where in the table
* `store`        the table in DynamoDB
* `minutes`      minutes as numbers and as text
"""
