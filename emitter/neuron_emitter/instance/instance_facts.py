"""
Facts about this instance that do not come from reports: from the metadata service and the board.

One response, the identity document, has most of them; the others are requested one by one. Every
value is checked before a record may contain it. From
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/instance-identity-documents.html
"""

from __future__ import annotations

import logging
import os
import time
from contextlib import suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from threading import Event, Thread
from typing import TYPE_CHECKING, Final

from neuron_emitter.instance.local_http import LocalHttpError
from neuron_emitter.instance.machine import board_instance_id, board_instance_type
from neuron_emitter.instance.metadata_service import METADATA_TIMEOUT_S, MetadataService
from neuron_emitter.logs import Backoff
from neuron_emitter.settings.minute_settings import is_printable
from neuron_wire.minute_record import MAX_INSTANCE_CHARS, MAX_MEMBER_CHARS
from neuron_wire.names import region_of_variables

if TYPE_CHECKING:
    from collections.abc import Iterable

DATA_PATH: Final = "/latest/meta-data/"
# Our name, the document's name, and the path of the single value; empty if there is none.
_IDENTITY_SPELLINGS: Final = (
    ("instance_id", "instanceId", "instance-id"),
    ("instance_type", "instanceType", "instance-type"),
    ("region", "region", "placement/region"),
    ("availability_zone", "availabilityZone", "placement/availability-zone"),
    ("ami_id", "imageId", "ami-id"),
    ("account_id", "accountId", ""),
    ("lifecycle", "", "instance-life-cycle"),
)
_log = logging.getLogger(__name__)
# Seconds to wait for the first attempt: a little more than the longest attempt.
FIRST_TRY_S: Final = 2.5


Fact = str | None


@dataclass(frozen=True, slots=True)
class InstanceFacts:
    """
    The known facts about an instance, each None if unknown.

    Attributes:
        instance_id: Such as `i-0123456789abcdef0`.

        instance_type: The type as EC2 writes it, such as `trn1.32xlarge`.

        region: Such as `us-east-1`.

        availability_zone: Such as `us-east-1a`.

        ami_id: Such as `ami-0123456789abcdef0`.

        account_id: The AWS account, 12 digits.

        lifecycle: The purchasing option in AWS's word, such as `spot`.
    """

    instance_id: Fact = None
    instance_type: Fact = None
    region: Fact = None
    availability_zone: Fact = None
    ami_id: Fact = None
    account_id: Fact = None
    lifecycle: Fact = None

    def with_fallback(self, other: InstanceFacts) -> InstanceFacts:
        """Return these facts, with facts of *other* in the place of unknown facts."""
        known = {name: fact for name, fact in asdict(self).items() if fact is not None}
        return InstanceFacts(**{**asdict(other), **known})


def _local_facts(root: Path) -> InstanceFacts:
    """Return the facts that need no service: those of the board, and the configured Region."""
    return InstanceFacts(
        instance_id=board_instance_id(root),
        instance_type=board_instance_type(root),
        region=_value("region", region_of_variables(os.environ)),
    )


def find_instance(
    service: MetadataService | None = None, *, root: Path = Path("/")
) -> InstanceFacts:
    """
    Return the facts that can be found within about two seconds.

    The metadata service takes precedence over the board: it can be configured to describe another
    instance, the board cannot.
    """
    service = service or MetadataService.from_environment(os.environ)
    return _answered_facts(service).with_fallback(_local_facts(root))


def _answered_facts(service: MetadataService) -> InstanceFacts:
    """Return the facts from the metadata service; none if it does not answer."""
    try:
        return _ask_for_facts(service)
    except LocalHttpError as error:
        _log.debug("instance metadata service not available", extra={"why": str(error)})
        return InstanceFacts()


def _ask_for_facts(service: MetadataService) -> InstanceFacts:
    ends_at_s = time.monotonic() + METADATA_TIMEOUT_S
    document = _document(service, ends_at_s)
    facts = {ours: _value(ours, document.get(theirs)) for ours, theirs, _ in _IDENTITY_SPELLINGS}
    for ours, _, path in _IDENTITY_SPELLINGS:
        if path and facts[ours] is None:
            try:
                text = service.get_text(f"{DATA_PATH}{path}", ends_at_s=ends_at_s)
                facts[ours] = _value(ours, text)
            except LocalHttpError:
                if not any(facts.values()):
                    raise
    return InstanceFacts(**facts)


def _document(service: MetadataService, ends_at_s: float) -> dict[str, object]:
    reply = service.get_reply("/latest/dynamic/instance-identity/document", ends_at_s=ends_at_s)
    with suppress(LocalHttpError):
        return reply.json_object() if reply else {}
    return {}


def _value(ours: str, fact: object) -> Fact:
    longest = MAX_INSTANCE_CHARS if ours == "instance_id" else MAX_MEMBER_CHARS
    return fact if isinstance(fact, str) and is_printable(fact, longest) else None


class BackgroundLookup:
    """
    Looks up the facts in a thread, so that reading reports never waits for them.

    The board's ID and type are known at once, from the first of *roots* that has an ID. The
    metadata service is asked until it names the instance or `close` is called: right after boot, or
    next to a proxy that starts later, it may not answer for minutes.

    Attributes:
        facts: The known facts. They are replaced as a whole, so they need no lock.
    """

    def __init__(
        self, service: MetadataService | None = None, *, roots: Iterable[Path] = (Path("/"),)
    ) -> None:
        self._service = service or MetadataService.from_environment(os.environ)
        self._backoff = Backoff(1.0, 300.0)
        boards = [*map(_local_facts, roots)]
        self.facts = next((board for board in boards if board.instance_id), boards[-1])
        self._tried = Event()
        self._closed = Event()
        if self._service.disabled:
            self._tried.set()
            return
        Thread(target=self._look, name="instance-facts", daemon=True).start()

    def wait_for_facts(self, timeout_s: float = FIRST_TRY_S) -> InstanceFacts:
        """Return the facts after the first attempt, or after *timeout_s*."""
        self._tried.wait(timeout_s)
        return self.facts

    def close(self) -> None:
        """Stop the requests. A running request ends by itself; no caller waits for it."""
        self._closed.set()
        self._tried.set()

    def _look(self) -> None:
        while not self._closed.is_set():
            facts = _answered_facts(self._service)
            if facts != InstanceFacts():
                # A response without an ID is requested again; its other facts already count.
                self.facts = facts.with_fallback(self.facts)
            self._tried.set()
            if facts.instance_id:
                return
            self._closed.wait(self._backoff.next_s())
