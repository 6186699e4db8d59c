"""
The page of one rehearsal: `neuron-emf page` on the embedded AWS, at a port that commands know.

Its alarms are the evaluator's. Programs on this machine can read the endpoint and the alarms
without a token: `--rehearsal` reads them.
"""

from __future__ import annotations

import errno
import platform
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import yaml

from neuron_emf.account import rehearsed_account
from neuron_emf.page.alarms import REHEARSAL_ALARMS
from neuron_emf.page.server import HOST, PageServer
from neuron_emf.page.view import PageView

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from local.rehearsal.alarm_board import AlarmBoard

PORT: Final = 8600
"""The port for `--rehearsal`."""

DIFFERENCES_FILE: Final = Path(__file__).with_name("differences.yaml")
"""Differences from AWS; the file explains its format."""


@dataclass(frozen=True, slots=True)
class AccountEndpoint:
    """
    The endpoint of the rehearsal's account, for commands that read it.

    Attributes:
        endpoint_url: The address of the embedded AWS, `http://127.0.0.1:PORT`.

        log_group: The log group of the emitters' lines.

        rollups_log_group: The log group of the rollups.
    """

    endpoint_url: str
    region: str
    log_group: str
    rollups_log_group: str
    stack_name: str


def open_page(
    place: AccountEndpoint, alarms: AlarmBoard, document: Mapping[str, Any], port: int
) -> PageServer:
    """
    Return the page of the account at *place*, ready to start, at *port* if it is free.

    *document* is the template; a port that is taken is reported.
    """
    account = rehearsed_account(asdict(place))
    read_alarms = alarms.read_alarms
    view = PageView(account, read_alarms=read_alarms, differences=differences_from_aws(document))
    public: dict[str, Callable[[], object]] = {
        "/rehearsal.json": lambda: asdict(place),
        f"/{REHEARSAL_ALARMS}": lambda: {"alarms": read_alarms()},
    }
    try:
        server = PageServer((HOST, port), view, public)
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
        print(
            f"Port {port} is in use, so the page uses another port, "
            "which neuron-emf --rehearsal does not find."
        )
        server = PageServer((HOST, 0), view, public)
    return server


def differences_from_aws(template: Mapping[str, Any]) -> list[str]:
    """
    Return one sentence for each difference from AWS in a rehearsal of this *template*.

    Resources that the deployment omits are read from the template; resources that are omitted for
    the same reason share a sentence.
    """
    python = f"Python {platform.python_version()}"
    sentences = [
        f"{row['part']}: {row['here'].format(python=python)} ({row['basis']})."
        for row in yaml.safe_load(DIFFERENCES_FILE.read_text("utf-8"))
    ]
    sentences.extend(
        f"Not deployed, because {row['Why']}: {', '.join(row['Resources'])}."
        for row in template["Metadata"]["Rehearsal"]["NotEmulated"]
    )
    return sentences
