"""
The whole of neuron-emf on one machine: `python -m local.rehearsal`.

A fleet of simulated instances with the real emitter on each, the real template on an embedded
AWS, its page, and at the end a verdict: rollups and money against what the simulators produced.
"""

import sys
from pathlib import Path

# Where the functions live: a root folder of its own, which is not installed.
sys.path += [str(Path(__file__).resolve().parents[2] / root) for root in ("emitter", "lambda")]
