"""
Calls of AWS. This is the only module that uses boto3.

Clients retry temporary failures (throttling, lost connections) themselves; any other failure is an
`AwsError` with the service's own code.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeAlias

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from neuron_wire.names import region_of_variables

if TYPE_CHECKING:
    from collections.abc import Callable


Response: TypeAlias = "dict[str, Any]"

Operation: TypeAlias = "Callable[..., Response]"
"""A method of a client of boto3."""


class AwsError(Exception):
    """
    A service rejected a call or did not answer.

    Attributes:
        code: The service's name of the error; empty if it did not answer.
    """

    def __init__(self, message: str, code: str = "") -> None:
        super().__init__(message)
        self.code = code


def client(service: str, attempts: int = 5) -> Any:  # noqa: ANN401  # boto3 publishes no types
    """Return a client with the credentials and the Region of the environment."""
    return boto3.client(
        service,
        region_name=region_of_variables(os.environ),
        config=Config(
            connect_timeout=3,
            read_timeout=10,
            retries={"mode": "standard", "total_max_attempts": attempts},
        ),
    )


def call(operation: Operation, **request: object) -> Response:
    """
    Return the response of one call.

    Raises:
        AwsError: If the service rejected the call or did not respond.
    """
    try:
        return operation(**request)
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code", "")
        msg = f"rejected a call with {code or 'an unnamed error'}"
        raise AwsError(msg, code) from error
    except BotoCoreError as error:
        msg = f"did not respond: {type(error).__name__}"
        raise AwsError(msg) from error
