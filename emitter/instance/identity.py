"""
The facts of this instance, without a report: from the metadata service and the board.

The identity document has them all in one answer; what it lacks is asked for one
by one. Everything that comes back is checked before it may become a member of a
record. From
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-identity-documents.html
"""

from __future__ import annotations

import logging
import os
import time
from dataclasses import replace
from pathlib import Path
from typing import Final

from emitter.instance.facts import InstanceFacts
from emitter.instance.local_http import LocalHttpError
from emitter.instance.machine import board_instance_id
from emitter.instance.metadata_service import WITHIN_S, MetadataError, MetadataService
from emitter.settings.names import is_printable
from neuron_wire.minute import MAX_INSTANCE_CHARS, MAX_TEXT_CHARS

DOCUMENT_PATH: Final = "/latest/dynamic/instance-identity/document"
DATA_PATH: Final = "/latest/meta-data/"

# Our name, the document's, and where the single value stands; empty where there is none.
_MEMBERS: Final = (
    ("instance_id", "instanceId", "instance-id"),
    ("instance_type", "instanceType", "instance-type"),
    ("region", "region", "placement/region"),
    ("availability_zone", "availabilityZone", "placement/availability-zone"),
    ("ami_id", "imageId", "ami-id"),
    ("account_id", "accountId", ""),
    ("lifecycle", "", "instance-life-cycle"),
)

_log = logging.getLogger(__name__)


def find_instance(
    service: MetadataService | None = None, *, root: Path = Path("/")
) -> InstanceFacts:
    """
    What can be found out within about two seconds; what cannot is None.

    The metadata service wins over the board: it can be told which instance to
    speak of, the board cannot.
    """
    service = service or MetadataService.from_environment(os.environ)
    try:
        facts = ask(service)
    except MetadataError as error:
        _log.debug("instance metadata service not available", extra={"why": str(error)})
        facts = InstanceFacts()
    return facts if facts.instance_id else replace(facts, instance_id=board_instance_id(root))


def ask(service: MetadataService) -> InstanceFacts:
    """
    What the metadata service says, each None that it does not.

    Raises:
        MetadataError: If it cannot be asked at all.
    """
    ends_at_s = time.monotonic() + WITHIN_S
    document = _document(service, ends_at_s)
    facts = {ours: _value(ours, document.get(theirs)) for ours, theirs, _ in _MEMBERS}
    for ours, _, path in _MEMBERS:
        if path and facts[ours] is None:
            try:
                facts[ours] = _value(ours, service.text(f"{DATA_PATH}{path}", ends_at_s=ends_at_s))
            except MetadataError:
                if not any(facts.values()):
                    raise
    return InstanceFacts(**facts)


def _document(service: MetadataService, ends_at_s: float) -> dict[str, object]:
    reply = service.get(DOCUMENT_PATH, ends_at_s=ends_at_s)
    if reply is None:
        return {}
    try:
        return reply.json_object()
    except LocalHttpError:
        return {}


def _value(ours: str, found: object) -> str | None:
    longest = MAX_INSTANCE_CHARS if ours == "instance_id" else MAX_TEXT_CHARS
    return found if isinstance(found, str) and is_printable(found, longest) else None
