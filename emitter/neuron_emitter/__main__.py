"""`python -m neuron_emitter` runs the commands of an instance: run and replay."""

import sys

from neuron_emitter.run.signals import RUN, end_at_once_if_stopped


def main() -> None:
    """Run a command, and end the process with its exit code."""
    if sys.argv[1:2] == [RUN]:
        end_at_once_if_stopped()
    from neuron_emitter import cli  # noqa: PLC0415 - 0.2 s, after the signals' handlers

    cli.main()


if __name__ == "__main__":
    main()
