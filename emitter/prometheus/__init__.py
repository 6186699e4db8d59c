"""
The values of the last report on a page for Prometheus: `run --prometheus`.

A view of the fold, never a second truth: the loop leaves here what it has read
and closed, and whoever scrapes is served by a thread of its own, from what was
left. Nothing is loaded, kept or opened without the option.

* `metrics_page`     what the loop calls, and the text that is served
* `last_values`      what the last reports told, runtime by runtime
* `families`         every metric of the page: name, type, meaning, labels
* `runtime_samples`  the runtimes, under the names of neuron-monitor-prometheus.py
* `instance_samples` the instance, under the names of that script
* `minute_samples`   the minute closed last and the emitter itself, under our own names
* `exposition`       from samples to the text format
* `scrape_server`    HTTP, for a bounded number of readers and a bounded time
"""
