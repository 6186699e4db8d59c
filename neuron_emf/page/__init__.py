"""
`neuron-emf page`: what idles, who holds it and what it costs, in a browser on this machine.

One reader for an account and for the rehearsal: log lines by FilterLogEvents and
alarms by DescribeAlarms. It changes nothing, reads no metric by GetMetricData,
and runs a query of Logs Insights only when somebody presses its button.

* `settings`      what can be chosen
* `command`       `neuron-emf page`
* `policy`        the permissions that it needs, as an IAM policy
* `server`        files and answers by HTTP, on 127.0.0.1, to whoever has the token
* `view`          an answer for each path
* `rollup_window` the rollup lines of the last minutes, read again each minute
* `first_screen`  status, the three numbers, who holds idle cores
* `graphs`        lines and bars over time
* `alarms`        states of the stack's alarms, by DescribeAlarms
* `messages`      what explain told people
* `cores`         the newest whole minute, and one instance's hour
* `paid_queries`  saved queries, each with what a run of it costs
* `static`        what the browser runs
"""
