"""
`neuron-emf page`: idle cores, their owners and their cost, in a browser on this machine.

The account and the rehearsal have one reader: log lines by FilterLogEvents and alarms by
DescribeAlarms. It changes nothing, reads no metric by GetMetricData, and runs a query of Logs
Insights only when a user presses its button.
"""
