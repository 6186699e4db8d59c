"""`python -m emitter` is `neuron-emf`."""

from emitter.cli import main

if __name__ == "__main__":
    main()
