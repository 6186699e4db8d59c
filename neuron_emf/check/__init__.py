"""
`neuron-emf check`: test everything that a first record needs.

It reads, tries and changes nothing, except one log stream and one log line of its own, which no
consumer treats as a record.
"""
