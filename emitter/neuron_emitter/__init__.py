"""neuron-emf on an instance: read neuron-monitor reports and write EMF log lines."""

from typing import Final

__version__: Final = "0.1.0"
VARIABLE_PREFIX: Final = "NEURON_EMF"
