"""
The page of one rehearsal: what it shows, and the port that it gets.

It is drawn in threads of this process, from the metrics of the embedded AWS.
"""

from __future__ import annotations

import errno
from typing import TYPE_CHECKING

from local.alarms import Template
from local.page import DashboardView, PageServer
from local.page.server import HOST, PORT
from local.rehearsal.limits import limits

if TYPE_CHECKING:
    from collections.abc import Mapping
    from typing import Any

    from local.rehearsal.stack import DeployedStack

QUEUE = "UndeliveredQueue"


def view_of(stack: DeployedStack, document: Mapping[str, Any]) -> DashboardView:
    """
    The dashboard that *document*, the template, would have on AWS, on the metrics of *stack*.

    With the parameters of a deployment there, because the rehearsal's leaves
    out the alarms on clusters, which the evaluator judges all the same.
    """
    queue_url = stack.resources.get(QUEUE, "")
    names = {f"{QUEUE}.QueueName": queue_url.rpartition("/")[2]} if queue_url else {}
    template = Template(document, {}, stack.resources, names)
    return DashboardView(template, stack.readings, stack.lines, stack.place, limits(document))


def opened(stack: DeployedStack, document: Mapping[str, Any], port: int) -> PageServer:
    """The page of *stack*, ready to start, at *port* when it can be had; says where it is."""
    server, remark = served(view_of(stack, document), port)
    if remark:
        print(remark)
    print(f"Open {server.url}")
    if server.port == PORT:  # where --rehearsal looks
        print("In another terminal: .venv/bin/neuron-emf top --rehearsal, and report --rehearsal")
    print(flush=True)
    return server


def served(view: DashboardView, port: int) -> tuple[PageServer, str]:
    """
    A server of *view* at *port*, or at a free one; and a sentence if it is not that port.

    Raises:
        OSError: If no port can be had, or this one for another reason than that it is taken.
    """
    try:
        return PageServer((HOST, port), view), ""
    except OSError as error:
        if error.errno not in (errno.EADDRINUSE, errno.EACCES):
            raise
    remark = (
        f"Port {port} is in use, so the page is on another one, "
        "where neuron-emf --rehearsal does not find it."
    )
    return PageServer((HOST, 0), view), remark
