"""The command `neuron-emf findings`: open findings, or the verdict about an instance."""
