"""
The summary of a profiler as log lines, so that it stands beside the fleet's metrics.

neuron-profile and its successor neuron-explorer print a summary with
`view --output-format summary-json`: what one core did in one run of a model,
in about a hundred numbers. Here it becomes one line for each core, namespace
`Neuron/Profile`, and rules of thumb say what is worth a look.

* `summaries`     what stands in a file: summaries of three shapes
* `keys`          which key of a summary is which member of a line
* `versions`      whether a summary is of a profiler whose keys are known
* `advice`        rules of thumb
* `line`          one summary as one line
* `listing`       what they find, for a person and for a program
* `log_delivery`  lines into CloudWatch Logs, by the emitter's own delivery
* `settings`, `command`   what is typed
"""
