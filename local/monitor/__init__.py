"""
A simulated neuron-monitor: `python -m local.monitor`.

Its standard output is that of neuron-monitor as captured on inf1, inf2 and trn1 and as documented
for trn2. Its additional input (the instance to play, the scenario, the truth) is one JSON object,
as an argument or in the variable NEURON_SIM, so that the emitter starts it like the real one. The
script `neuron-monitor` next to this file is the command for the emitter.

`truth` shares no code with the emitter or the aggregator, and only the form of a line with the
simulator.
"""
