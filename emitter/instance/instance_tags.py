"""
The instance's tags from the metadata service, asked once.

They are there only when the instance allows it, which it does not by default.
A key with a slash cannot be among them; an instance that has one, as most nodes
of EKS have, cannot allow it. From
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/work-with-tags-in-IMDS.html
"""

from __future__ import annotations

import re
import time
from typing import TYPE_CHECKING, Final

from emitter.instance.metadata_service import WITHIN_S, MetadataError, MetadataService

if TYPE_CHECKING:
    from collections.abc import Mapping

TAGS_PATH: Final = "/latest/meta-data/tags/instance"
MAX_TAGS: Final = 60  # 50 of the owner's, and those of AWS

_KEY: Final = re.compile(r"[A-Za-z0-9+\-=.,_:@]{1,255}")  # what the page above allows


class TagsUnavailableError(Exception):
    """The tags cannot be read; the message says why, in a few words."""


class InstanceTags:
    """What the metadata service says of the tags that name a cluster."""

    def __init__(self, service: MetadataService, wanted: tuple[str, ...]) -> None:
        self._service = service
        self._wanted = frozenset(wanted)
        self._found: Mapping[str, str] | TagsUnavailableError | None = None

    def read(self) -> Mapping[str, str]:
        """
        The wanted tags that the instance has.

        Raises:
            TagsUnavailableError: If they cannot be read, the first time or before.
        """
        if self._found is None:
            try:
                self._found = self._read()
            except MetadataError as error:
                self._found = TagsUnavailableError(f"the instance metadata service: {error}")
            except TagsUnavailableError as error:
                self._found = error
        if isinstance(self._found, TagsUnavailableError):
            raise self._found
        return self._found

    def _read(self) -> Mapping[str, str]:
        ends_at_s = time.monotonic() + WITHIN_S
        reply = self._service.get(TAGS_PATH, ends_at_s=ends_at_s)
        if reply is None:
            msg = "tags in instance metadata are not enabled"
            raise TagsUnavailableError(msg)
        keys = reply.body.decode("utf-8", errors="replace").split("\n")[:MAX_TAGS]
        tags = {}
        for key in keys:
            if key in self._wanted and _KEY.fullmatch(key):
                value = self._service.text(f"{TAGS_PATH}/{key}", ends_at_s=ends_at_s)
                tags[key] = value or ""
        return tags
