"""
The summary of a profiler as log lines, so that it stands beside the fleet's metrics.

neuron-profile and its successor neuron-explorer print a summary with
`view --output-format summary-json`: what one core did in one run of a model,
in about a hundred numbers. Here it becomes one line for each core, namespace
`Neuron/Profile`, and rules of thumb say what is worth a look.
"""
