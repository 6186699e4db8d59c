"""
The words for numbers, names, owners and periods that people read.

Messages, commands and pages use these words, so that one number reads the same everywhere. The
package uses only the standard library, `neuron_wire` and `neuron_accounts`.
"""
