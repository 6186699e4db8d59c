"""
What people run today, written as its own documentation shows it: the references of the emitter.

* `metrics`       the metrics of one report that somebody would pick
* `embedded`      json.loads and aws-embedded-metrics: a document for each report
* `metric_calls`  boto3: a PutMetricData call for each report
* `shippers`      log lines by watchtower, and by the emitter's own delivery
* `costs`         each and the emitter in turns, in a process of its own
* `losses`        what arrives when the service goes away and a process is killed
* `rows`          the rows of the table

None of them folds: they know a report and forget it.
"""
