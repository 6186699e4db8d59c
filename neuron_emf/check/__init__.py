"""
`neuron-emf check`: test everything that a first record needs.

It changes nothing except that it writes one log line to a log stream of its own. No consumer treats
this line as a record.
"""
