"""From neuron-monitor to typed reports."""
