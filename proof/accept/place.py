"""
Which account and region, and clients whose answers are kept.

The credentials and the endpoint are those of whoever types, as AWS's own
variables name them.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from local.embedded_aws import EmbeddedAwsError, require_loopback
from neuron_emf.account import AccountSettings, account
from proof.accept.journal import AcceptError

if TYPE_CHECKING:
    from proof.accept.recording import Recorder

ENDPOINT = "AWS_ENDPOINT_URL"


@dataclass(frozen=True)
class Place:
    """
    Where a run takes place.

    Attributes:
        account: Its number, 12 digits.

        endpoint: Of the embedded AWS; empty on a real account.

        recorder: Keeps the answers.
    """

    region: str
    account: str
    endpoint: str
    recorder: Recorder
    _clients: dict[str, Any] = field(default_factory=dict, repr=False)

    @classmethod
    def find(cls, region: str, recorder: Recorder) -> Place:
        """
        The account that the credentials are of.

        Raises:
            AcceptError: If an endpoint is set that is not on this machine.
        """
        endpoint = os.environ.get(ENDPOINT, "")
        try:
            if endpoint:
                require_loopback(endpoint)
        except EmbeddedAwsError as error:
            msg = f"{ENDPOINT} is {endpoint}, which is neither AWS nor this machine. Unset it."
            raise AcceptError(msg) from error
        place = cls(region, "", endpoint, recorder)
        caller = place.client("sts").get_caller_identity()
        recorder.hide(caller["Account"], caller["UserId"], caller["Arn"])
        return cls(region, str(caller["Account"]), endpoint, recorder, place._clients)

    @property
    def is_embedded(self) -> bool:
        """It is no account, but the embedded AWS on this machine."""
        return bool(self.endpoint)

    @property
    def where(self) -> dict[str, str]:
        """By what a journal recognizes it."""
        return {"account": self.account, "region": self.region, "endpoint": self.endpoint}

    def client(self, service: str) -> Any:
        """The one client of *service*."""
        if service not in self._clients:
            made = account(AccountSettings(region=self.region)).client(service)
            self.recorder.listen(made)
            self._clients[service] = made
        return self._clients[service]

    def close(self) -> None:
        """Close the connections."""
        for client in self._clients.values():
            client.close()
        self._clients.clear()
