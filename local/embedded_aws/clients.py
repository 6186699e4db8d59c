"""
boto3 clients that can reach the embedded AWS and nothing else.

This is the only module of the rehearsal that uses boto3. Credentials are invented, no configuration
file and no proxy is read, and an endpoint that is not a loopback address is rejected: nothing here
can reach an account by accident.
"""

from __future__ import annotations

import os
import urllib.parse
from typing import Any, Final

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from local.embedded_aws.child_processes import EmbeddedAwsError, is_loopback

SDK_ERRORS: Final = (BotoCoreError, ClientError)
"""The errors of a client if the service refuses or does not answer."""

EMBEDDED_REGION: Final = "us-west-2"  # also the Region of the simulated instances
_CREDENTIAL: Final = "rehearsal"  # any text: the emulator checks no signature
_NO_PROXY: Final = "127.0.0.1,localhost"


def client(service: str, endpoint_url: str) -> Any:  # noqa: ANN401  # boto3 publishes no types
    """
    Return a boto3 client of *service* at *endpoint_url*.

    Raises:
        EmbeddedAwsError: If *endpoint_url* is not on this machine.
    """
    require_loopback(endpoint_url)
    session = boto3.session.Session(
        aws_access_key_id=_CREDENTIAL,
        aws_secret_access_key=_CREDENTIAL,
        region_name=EMBEDDED_REGION,
    )
    config = Config(
        connect_timeout=5,
        read_timeout=30,
        retries={"mode": "standard", "total_max_attempts": 2},
        proxies={},
    )
    return session.client(service, endpoint_url=endpoint_url, config=config)


def require_loopback(endpoint_url: str) -> None:
    """
    Raise an error if *endpoint_url* could be an account.

    Raises:
        EmbeddedAwsError: If *endpoint_url* does not name a loopback address by
            its number. A host name is refused, whatever it resolves to today.
    """
    if not is_loopback(urllib.parse.urlsplit(endpoint_url).hostname or ""):
        msg = (
            f"the rehearsal talks to a loopback address only, for example http://127.0.0.1:4566, "
            f"not to {endpoint_url!r}: nothing was sent"
        )
        raise EmbeddedAwsError(msg)


def environment(endpoint_url: str | None = None) -> dict[str, str]:
    """
    Return the variables of this process without the user's AWS settings.

    With *endpoint_url*, every program that reads AWS's own variables uses it.
    """
    inherited = {
        name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "SAM_"))
    }
    inherited.update(
        AWS_CONFIG_FILE=os.devnull,
        AWS_SHARED_CREDENTIALS_FILE=os.devnull,
        AWS_EC2_METADATA_DISABLED="true",
        AWS_ACCESS_KEY_ID=_CREDENTIAL,
        AWS_SECRET_ACCESS_KEY=_CREDENTIAL,
        AWS_DEFAULT_REGION=EMBEDDED_REGION,
        AWS_REGION=EMBEDDED_REGION,
    )
    for name in ("NO_PROXY", "no_proxy"):
        inherited[name] = ",".join(filter(None, (inherited.get(name), _NO_PROXY)))
    if endpoint_url is not None:
        require_loopback(endpoint_url)
        inherited["AWS_ENDPOINT_URL"] = endpoint_url
    return inherited
