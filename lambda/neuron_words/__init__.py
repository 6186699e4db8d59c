"""
How numbers, names, owners and periods are said to people.

Messages, commands and pages use these words, so that one number reads the same everywhere.
Standard library, `neuron_wire` and `neuron_accounts` only.
"""
