"""
`neuron-emf check`: is everything there that a first record needs.

It reads, tries and changes nothing, but for one log stream and one log line of
its own, which no consumer takes for a record.
"""
