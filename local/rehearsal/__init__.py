"""
The whole of neuron-emf on one machine: `python -m local.rehearsal`.

It runs a fleet of simulated instances with the real emitter on each, the real template on an
embedded AWS, its page, and at the end a verdict: rollups and money compared with the simulators'
output.
"""

import sys
from pathlib import Path

# The functions' source root, which is not installed.
sys.path += [str(Path(__file__).resolve().parents[2] / root) for root in ("emitter", "lambda")]
