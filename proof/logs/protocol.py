"""
JSON 1.1, the one protocol that botocore's model of CloudWatch Logs has.

The operation is in a header, and the body of an error has its name in `__type`.
Another service behind the same port may have another: `Protocol` is all that
the port asks of one.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, Protocol

from proof.logs.faults import ProxyPage
from proof.logs.forms import NOT_READ, ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTENT_TYPE = "application/x-amz-json-1.1"
TARGET_PREFIX = "Logs_20140328."


class Wire(Protocol):
    """
    How the requests and answers of a service are written.

    Attributes:
        signing_name: The service, as a signature names it.
    """

    signing_name: str

    def is_of(self, headers: Mapping[str, str]) -> bool:
        """Whether a request is written so, as far as its headers say."""

    def operation_in(self, headers: Mapping[str, str], body: bytes) -> str:
        """What is asked for."""

    def check_form(self, headers: Mapping[str, str]) -> None:
        """
        Look at what the headers say of the body.

        Raises:
            ServiceError: If it is not this protocol.
        """

    def document_in(self, body: bytes) -> dict[str, Any]:
        """
        The request.

        Raises:
            ServiceError: If the body is none.
        """

    def written(self, answer: dict[str, Any] | ServiceError | ProxyPage) -> tuple[int, str, bytes]:
        """Status, content type and body of an answer."""


class JsonWire:
    """The protocol of CloudWatch Logs."""

    signing_name = "logs"

    def is_of(self, headers: Mapping[str, str]) -> bool:  # noqa: ARG002 what is no other is this
        return True

    def operation_in(self, headers: Mapping[str, str], body: bytes) -> str:  # noqa: ARG002
        return headers.get("x-amz-target", "").removeprefix(TARGET_PREFIX)

    def check_form(self, headers: Mapping[str, str]) -> None:
        is_whole = "content-encoding" not in headers
        is_json = headers.get("content-type") == CONTENT_TYPE
        if not (is_whole and is_json and headers.get("x-amz-target", "").startswith(TARGET_PREFIX)):
            raise ServiceError(NOT_READ, f"expected {CONTENT_TYPE} for {TARGET_PREFIX}")

    def document_in(self, body: bytes) -> dict[str, Any]:
        try:
            found = json.loads(body)
        except ValueError:
            raise ServiceError(NOT_READ, "expected JSON") from None
        if not isinstance(found, dict):
            raise ServiceError(NOT_READ, "expected a structure")
        return found

    def written(self, answer: dict[str, Any] | ServiceError | ProxyPage) -> tuple[int, str, bytes]:
        if isinstance(answer, ProxyPage):
            return answer.status, "text/html", answer.body
        if isinstance(answer, ServiceError):
            told = {"__type": answer.code, "message": answer.words}
            return answer.status, CONTENT_TYPE, json.dumps(told).encode()
        return 200, CONTENT_TYPE, json.dumps(answer).encode()
