"""
The page of one rehearsal: `neuron-emf page` on the embedded AWS, at a port that commands know.

Its alarms are the evaluator's. The endpoint and the alarms are readable without a token on this
machine: `--rehearsal` reads them.
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
"""Where `--rehearsal` looks."""

DIFFERENCES_FILE: Final = Path(__file__).with_name("differences.yaml")
"""Differences from AWS; the file says how to read them."""


@dataclass(frozen=True, slots=True)
class AccountEndpoint:
    """
    Where the rehearsal's account is, for commands that look at it.

    Attributes:
        endpoint_url: Of the embedded AWS, `http://127.0.0.1:PORT`.

        log_group: Of the emitters' lines.

        rollups_log_group: Of the rollups.
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
    The page of the account at *place*, ready to start, at *port* when it can be had.

    *document* is the template; a port that is taken is said.
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
            f"Port {port} is in use, so the page is on another one, "
            "where neuron-emf --rehearsal does not find it."
        )
        server = PageServer((HOST, 0), view, public)
    return server


def differences_from_aws(template: Mapping[str, Any]) -> list[str]:
    """
    One sentence for each difference from AWS in a rehearsal of this *template*.

    What the deployment leaves out is read from the template, which knows; resources that are
    left out for the same reason share a sentence.
    """
    python = f"Python {platform.python_version()}"
    sentences = [
        f"{row['part']}: {row['here'].format(python=python)} ({row['basis']})."
        for row in yaml.safe_load(DIFFERENCES_FILE.read_text("utf-8"))
    ]
    sentences.extend(
        f"Not deployed, because {row['Why']}: {', '.join(row['Resources'])}."
        for row in template.get("Metadata", {}).get("Rehearsal", {}).get("NotEmulated", [])
    )
    return sentences
