"""
The EC2 instance metadata service, with its version 2 only.

A PUT returns a session token, which every request carries. The response to the PUT travels as many
hops as the instance allows, often one: a pod then gets no response, and the limits of `local_http`
end the wait. Version 1, without a token, is never tried: the hop limit exists to prevent it. From
https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/configuring-instance-metadata-service.html and,
for the variables, https://docs.aws.amazon.com/sdkref/latest/guide/feature-imds-credentials.html
"""

from __future__ import annotations

from math import inf
from typing import TYPE_CHECKING, Final

from neuron_emitter.instance.local_http import LocalHttpError, Reply, exchange

if TYPE_CHECKING:
    from collections.abc import Mapping

IPV4_ENDPOINT: Final = "http://169.254.169.254"
IPV6_ENDPOINT: Final = "http://[fd00:ec2::254]"
DISABLED_VARIABLE: Final = "AWS_EC2_METADATA_DISABLED"

TOKEN_PATH: Final = "/latest/api/token"  # noqa: S105 - a path
# Seconds for all requests of one round together.
METADATA_TIMEOUT_S: Final = 2.0


class MetadataService:
    """One session with the service. Threads must not share it."""

    def __init__(self, endpoint: str = IPV4_ENDPOINT, *, disabled: bool = False) -> None:
        self._endpoint = endpoint.rstrip("/")
        self._token: str | None = None
        self.disabled = disabled

    @classmethod
    def from_environment(cls, environ: Mapping[str, str]) -> MetadataService:
        """Return the service at the address in the variables of the AWS SDKs."""
        is_ipv6 = (
            environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE", "").strip().lower() == "ipv6"
        )
        default = IPV6_ENDPOINT if is_ipv6 else IPV4_ENDPOINT
        return cls(
            environ.get("AWS_EC2_METADATA_SERVICE_ENDPOINT", "").strip() or default,
            disabled=environ.get(DISABLED_VARIABLE, "").strip().lower() == "true",
        )

    def get_reply(self, path: str, *, ends_at_s: float = inf) -> Reply | None:
        """
        Return the response for *path*, such as `/latest/meta-data/instance-id`, or None.

        Raises:
            LocalHttpError: If the service cannot be asked.
        """
        if self.disabled:
            msg = f"{DISABLED_VARIABLE} is true"
            raise LocalHttpError(msg)
        reply = self._ask(path, ends_at_s)
        if reply.status == 401:  # the token has expired
            self._token = None
            reply = self._ask(path, ends_at_s)
        if reply.status == 404:
            return None
        if reply.status != 200:
            msg = f"status {reply.status} for {path}"
            raise LocalHttpError(msg)
        return reply

    def get_text(self, path: str, *, ends_at_s: float = inf) -> str | None:
        """
        Return the text at *path*; None if there is none or it is empty.

        Raises:
            LocalHttpError: If the service cannot be asked, or the answer is not text.
        """
        reply = self.get_reply(path, ends_at_s=ends_at_s)
        return reply.text() or None if reply else None

    def _ask(self, path: str, until_s: float) -> Reply:
        if self._token is None:
            self._token = self._new_token(until_s)
        headers = {"X-aws-ec2-metadata-token": self._token}
        return exchange(f"{self._endpoint}{path}", headers=headers, ends_at_s=until_s)

    def _new_token(self, until_s: float) -> str:
        url = f"{self._endpoint}{TOKEN_PATH}"
        headers = {"X-aws-ec2-metadata-token-ttl-seconds": "300"}
        reply = exchange(url, method="PUT", headers=headers, ends_at_s=until_s)
        token = reply.text()
        if reply.status == 403:
            msg = "turned off for this instance, or blocked (403)"
            raise LocalHttpError(msg)
        if reply.status != 200:
            msg = f"no session token (status {reply.status})"
            raise LocalHttpError(msg)
        if not token.isascii() or not token.isprintable() or not 0 < len(token) <= 1024:
            msg = "invalid session token"
            raise LocalHttpError(msg)
        return token
