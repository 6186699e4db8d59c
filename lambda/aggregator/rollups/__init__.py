"""
Turn the records of one cluster and minute into numbers, and the numbers into lines.

Pure: no clock, no table. `neuron_wire` merges several records of one instance and minute, and
`neuron_accounts` assigns owners and prices: the operator's commands calculate alike.
"""
