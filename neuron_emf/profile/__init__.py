"""
Turn the summary of a profiler into log lines next to the fleet's metrics.

neuron-profile and its successor neuron-explorer print a summary with `view --output-format
summary-json`: the work of one core in one run of a model, in about a hundred numbers. It becomes
one line for each core, namespace `Neuron/Profile`, and rules of thumb show what to look at.
"""
