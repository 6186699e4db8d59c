"""neuron-emf on an instance: neuron-monitor reports in, EMF log lines out."""

from typing import Final

__version__: Final = "0.1.0"
VARIABLE_PREFIX: Final = "NEURON_EMF"
