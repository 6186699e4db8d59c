"""`neuron-emf` and `python -m neuron_emf`: signal handlers come before every other import."""

import sys

from neuron_emitter.run.signals import RUN, end_at_once_if_stopped


def main() -> None:
    """Run a command and end the process with its exit code."""
    if sys.argv[1:2] == [RUN]:
        end_at_once_if_stopped()
    from neuron_emf import cli  # noqa: PLC0415 - 55 ms, after the signals' handlers

    cli.main()


if __name__ == "__main__":
    main()
