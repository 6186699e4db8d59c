"""
A simulated neuron-monitor: `python -m local.monitor`.

On its standard output it is neuron-monitor as captured on inf1, inf2 and trn1
and as documented for trn2. What it adds (the instance to play, the scenario,
the truth) is one JSON object, given as an argument or in the variable
NEURON_SIM, so that the emitter starts it like the real one. The script
`neuron-monitor` beside this file is what the emitter is given as its command.

`truth` shares no code with the emitter or the aggregator, and with the simulator
only the form of a line.
"""
