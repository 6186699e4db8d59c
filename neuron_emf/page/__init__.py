"""
`neuron-emf page`: what idles, who holds it and what it costs, in a browser on this machine.

One reader for an account and for the rehearsal: log lines by FilterLogEvents and
alarms by DescribeAlarms. It changes nothing, reads no metric by GetMetricData,
and runs a query of Logs Insights only when a user presses its button.
"""
