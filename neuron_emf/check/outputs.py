"""Where lines go when not to CloudWatch Logs: the agent, a file, standard output."""

from __future__ import annotations

import os
import socket
import sys
from typing import TYPE_CHECKING, Final

from emitter.delivery.agent_socket import parse_endpoint
from emitter.delivery.rotating_file import file_of
from emitter.errors import SettingsError
from emitter.settings.run import AGENT, FILE_PREFIX, LOGS
from neuron_emf.check.finding import Finding, failed, not_needed, ok
from neuron_emf.check.origin import without_password

if TYPE_CHECKING:
    from pathlib import Path

    from neuron_emf.check.settings import CheckSettings

CHECK: Final = "output"
CONNECT_WITHIN_S: Final = 5.0


def check_output(settings: CheckSettings) -> Finding:
    """Whether the lines can go where `--output` says; nothing is written."""
    if settings.output == LOGS:
        return not_needed(CHECK, "lines go to CloudWatch Logs")
    if settings.output == AGENT:
        return _agent(settings.agent_endpoint)
    if settings.output.startswith(FILE_PREFIX):
        return _file(file_of(settings.output, FILE_PREFIX))
    if sys.stdout is None:
        return failed(CHECK, "standard output is closed", "open it")
    return ok(CHECK, "standard output")


def _agent(endpoint: str) -> Finding:
    try:
        address = parse_endpoint(endpoint)
    except SettingsError as error:
        return failed(CHECK, without_password(str(error)), "correct --agent-endpoint")
    try:
        with socket.create_connection(address, CONNECT_WITHIN_S):
            return ok(CHECK, f"something listens at {endpoint}: the CloudWatch agent, we hope")
    except OSError as error:
        said = error.strerror or type(error).__name__
        return failed(
            CHECK,
            f"the CloudWatch agent cannot be reached at {endpoint}: {said}",
            'start it with "emf": {} under logs, metrics_collected in its configuration, or '
            "correct --agent-endpoint",
        )


def _file(path: Path) -> Finding:
    folder = path.parent
    if not folder.is_dir():
        return failed(CHECK, f"there is no folder {folder}", "make it")
    if path.exists() and not path.is_file():
        return failed(CHECK, f"{path} is no ordinary file", "name another with --output file:PATH")
    is_writable = os.access(folder, os.W_OK | os.X_OK) and (
        not path.exists() or os.access(path, os.W_OK)
    )
    if not is_writable:
        return failed(
            CHECK,
            f"{path} cannot be written by this user",
            "let this user write there, or name another with --output file:PATH",
        )
    return ok(CHECK, f"{path} can be written")
