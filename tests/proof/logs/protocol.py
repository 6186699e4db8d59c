"""
JSON 1.1, the one protocol that botocore's model of CloudWatch Logs has.

The operation is in a header, and the body of an error has its name in `__type`.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from tests.proof.logs.faults import Page
from tests.proof.logs.forms import NOT_READ, ServiceError

if TYPE_CHECKING:
    from collections.abc import Mapping

CONTENT_TYPE = "application/x-amz-json-1.1"
TARGET_PREFIX = "Logs_20140328."


def operation_in(headers: Mapping[str, str]) -> str:
    """
    What is asked for, as far as the headers say it.
    """
    return headers.get("x-amz-target", "").removeprefix(TARGET_PREFIX)


def check_form(headers: Mapping[str, str]) -> None:
    """
    Look at what the headers say of the body.

    Raises:
        ServiceError: If it is not this protocol.
    """
    is_whole = "content-encoding" not in headers
    is_json = headers.get("content-type") == CONTENT_TYPE
    if not (is_whole and is_json and headers.get("x-amz-target", "").startswith(TARGET_PREFIX)):
        raise ServiceError(NOT_READ, f"expected {CONTENT_TYPE} for {TARGET_PREFIX}")


def document_in(body: bytes) -> dict[str, Any]:
    """
    The request.

    Raises:
        ServiceError: If the body is none.
    """
    try:
        found = json.loads(body)
    except ValueError:
        raise ServiceError(NOT_READ, "expected JSON") from None
    if not isinstance(found, dict):
        raise ServiceError(NOT_READ, "expected a structure")
    return found


def written(answer: dict[str, Any] | ServiceError | Page) -> tuple[int, str, bytes]:
    """
    Status, content type and body of an answer.
    """
    if isinstance(answer, Page):
        return answer.status, "text/html", answer.body
    if isinstance(answer, ServiceError):
        told = {"__type": answer.code, "message": answer.words}
        return answer.status, CONTENT_TYPE, json.dumps(told).encode()
    return 200, CONTENT_TYPE, json.dumps(answer).encode()
