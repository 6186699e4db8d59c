"""
`neuron-monitor-emf`, a replacement for neuron-monitor-cloudwatch.py in a pipe.

It accepts that script's options and runs `neuron-emf run`: reports from standard input, and metrics
with the script's names. All other settings come from the variables and the configuration file of
`run`.
"""

from __future__ import annotations

import argparse
import sys
from typing import TYPE_CHECKING, Final

from neuron_emitter.run.signals import RUN, end_at_once_if_stopped

if TYPE_CHECKING:
    from collections.abc import Sequence

DROP_IN_NAME: Final = "neuron-monitor-emf"
UNNAMED_CLUSTER: Final = "default"
"""The cluster in lines of an instance that has none; the script has no clusters."""

_HELP: Final = (
    "Turn neuron-monitor reports on standard input into log lines in CloudWatch Logs. CloudWatch "
    "extracts the metrics NeuronCoreUtilizationNC0, NC1 and so on from them, with the names that "
    "neuron-monitor-cloudwatch.py uses."
)
_DROP_IN_EPILOG: Final = (
    "The role needs logs:PutLogEvents and logs:CreateLogStream on the log group, by default "
    "/neuron-emf/records, and no cloudwatch:PutMetricData. All other settings are those of "
    "`neuron-emf run`: set them as variables, such as NEURON_EMF_LOG_GROUP and "
    "NEURON_EMF_CLUSTER, or in its configuration file. Exit codes: 0 stopped by a signal, 2 usage "
    "error, 3 the pipe ended, 4 the pipe ended with undelivered records, which stay in the spool."
)


def main() -> None:
    """Read reports until the pipe ends or a stop is asked for; end the process."""
    end_at_once_if_stopped()
    from neuron_emitter import cli, command_line  # noqa: PLC0415 - 0.2 s, as in __main__

    words = run_words(parser().parse_args(sys.argv[1:]))
    command_line.main(cli.cli, words, unnamed_cluster=UNNAMED_CLUSTER)


def parser() -> argparse.ArgumentParser:
    """Return a parser for the options of neuron-monitor-cloudwatch.py."""
    from neuron_emitter.lines.line_settings import COMMON_DIMS  # noqa: PLC0415 - as above

    parser = argparse.ArgumentParser(DROP_IN_NAME, description=_HELP, epilog=_DROP_IN_EPILOG)
    parser.add_argument(
        "-n", "--namespace", help="CloudWatch namespace of the metrics; by default Neuron."
    )
    parser.add_argument(
        "-r", "--region", required=True, help="AWS region of the log group and the metrics."
    )
    parser.add_argument(
        *("-d", "--common-dims"),
        nargs="+",
        choices=COMMON_DIMS,
        default=(),
        help="Dimensions of every metric; neuron_runtime_tag is accepted but has no effect.",
    )
    parser.add_argument(
        "--high-resolution-metrics", action="store_true", help="Metrics at one-second resolution."
    )
    return parser


def run_words(given: argparse.Namespace) -> Sequence[str]:
    """Translate the script's options into arguments of `neuron-emf`."""
    words = [RUN, "--input", "-", "--metrics", "legacy", "--region", given.region]
    if given.namespace is not None:
        words += ["--namespace", given.namespace]
    for name in given.common_dims:
        words += ["--common-dims", name]
    if given.high_resolution_metrics:
        words.append("--high-resolution-metrics")
    return words


if __name__ == "__main__":
    main()
