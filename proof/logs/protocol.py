"""
How requests and answers are written: JSON 1.1, the one protocol of CloudWatch Logs, and others.

The operation is in a header, and the body of an error has its name in `__type`. Another
service behind the same port has a wire of its own with the same three methods.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from proof.logs.faults import ProxyPage
from proof.logs.forms import ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

    Answer = dict[str, Any] | ServiceError | ProxyPage


@dataclass(frozen=True)
class JsonWire:
    """
    The protocol of CloudWatch Logs, or of a service that differs in these words.

    Attributes:
        signing_name: The service, as a signature names it.
    """

    signing_name: str = "logs"
    content_type: str = "application/x-amz-json-1.1"
    target_prefix: str = "Logs_20140328."

    def is_of(self, headers: Mapping[str, str]) -> bool:
        """Whether a request is written so, whole and not compressed."""
        is_ours = headers.get("x-amz-target", "").startswith(self.target_prefix)
        is_json = headers.get("content-type") == self.content_type
        return is_ours and is_json and "content-encoding" not in headers

    def request_of(self, headers: Mapping[str, str], body: bytes) -> tuple[str, dict[str, Any]]:
        """What is asked for, and its members."""
        return headers["x-amz-target"].removeprefix(self.target_prefix), json.loads(body)

    def written(self, answer: Answer) -> tuple[int, str, bytes]:
        """Status, content type and body of an answer."""
        if isinstance(answer, ProxyPage):
            return answer.status, "text/html", answer.body
        if isinstance(answer, ServiceError):
            told = {"__type": answer.code, "message": answer.words}
            return answer.status, self.content_type, json.dumps(told).encode()
        return 200, self.content_type, json.dumps(answer).encode()
