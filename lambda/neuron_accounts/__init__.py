"""
What both halves and the commands compute from lines.

Prices, payment, teams, core time, the minutes of owners, idle cores of a cluster, the ledger.
Standard library and `neuron_wire` only.
"""
