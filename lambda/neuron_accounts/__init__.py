"""
Calculations on lines that both halves and the commands share.

Prices, payment, teams, core time, the minutes of owners, idle cores of a cluster, the ledger. It
uses only the standard library and `neuron_wire`.
"""
