"""
The records of one cluster and minute become its numbers, and its numbers lines.

Pure: no clock, no table. That several records of one instance and minute are
one, who holds the cores then and what a core costs is `neuron_wire`'s: the
operator's commands count alike.
"""
