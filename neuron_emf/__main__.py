"""`python -m neuron_emf` is `neuron-emf`."""

from neuron_emf.cli import main

if __name__ == "__main__":
    main()
