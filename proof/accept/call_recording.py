"""
The place of a run, and the recorded answers of AWS without secrets, one file for each step.

The credentials and the endpoint come from AWS's own variables. A line is one call: `service`,
`operation`, `asked` and `answer`, or `error` with its code and message. A name of an account, a
person, a key or a run is replaced by the same stand-in everywhere, so that equal values stay equal.
A call with the same answer as the call before it is not recorded again.
"""

from __future__ import annotations

import json
import os
import re
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from local.embedded_aws.child_processes import EmbeddedAwsError
from local.embedded_aws.clients import require_loopback
from neuron_emf.account import account
from neuron_emf.command_options import AccountSettings

if TYPE_CHECKING:
    from pathlib import Path

    from proof.logs.rules import Document

RECORDED_ACCOUNT: Final = "111122223333"
_HIDDEN_TEXT: Final = "hidden"
_MAX_RECORDED_CHARS: Final = 20_000

_SECRET_MEMBERS: Final = re.compile(
    r"(?i)token|credential|password|secret|signature|receipthandle|hostid|userid|httpheaders"
)
_PATTERNS: Final = (  # pattern, stand-in
    (re.compile(r"\b(?:AKIA|ASIA|AIDA|AROA|AGPA|ANPA)[0-9A-Z]{12,}\b"), "AKIAEXAMPLE"),
    (re.compile(r"[\w.+-]+@[\w-]+\.[\w.]+"), "someone@example.org"),
    (re.compile(r"(?<=[?&])X-Amz-[^=]+=[^&\s\"]+"), _HIDDEN_TEXT),
    (re.compile(r"(?<![\d.])\d{1,3}(?:\.\d{1,3}){3}(?![\d.])"), "192.0.2.1"),
)
_IDENTITY_KINDS: Final = {
    "assumed-role",
    "federated-user",
    "root",
    "user",
}  # the text before a name in an ARN
_UUID: Final = re.compile(r"\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b")
_DIGITS: Final = re.compile(r"(?<!\d)\d{12}(?!\d)")
_NUMBERS_OF_MEMBERS: Final = re.compile(r"(?i)account|owner")


ENDPOINT_VARIABLE: Final = "AWS_ENDPOINT_URL"


class AcceptError(Exception):
    """
    A step cannot continue; the resources are removed anyway.

    The operator must act: a resource already exists, or AWS did not finish.
    """


class Scrubber:
    """Replaces secrets, equal ones by equal stand-ins."""

    def __init__(self) -> None:
        self._known: dict[str, str] = {}
        self._uuids: dict[str, str] = {}

    def hide(self, value: str, stand_in: str) -> None:
        """Replace *value* everywhere."""
        if value:
            self._known[value] = stand_in

    def text(self, text: str) -> str:
        """Return *text* without data of the account or its people."""
        for value in sorted(self._known, key=len, reverse=True):
            text = re.sub(
                rf"(?<![A-Za-z0-9]){re.escape(value)}(?![A-Za-z0-9])", self._known[value], text
            )
        for pattern, stand_in in _PATTERNS:
            text = pattern.sub(stand_in, text)
        text = _UUID.sub(self._uuid, text)
        # in an ARN; elsewhere 12 digits may be a measured number
        return re.sub(r"(?<=:)\d{12}(?=:)|(?<=/)\d{12}(?=/)", RECORDED_ACCOUNT, text)[
            :_MAX_RECORDED_CHARS
        ]

    def value(self, value: Any, member: str = "") -> Any:
        """Return any value of an answer without secrets."""
        if isinstance(value, dict):
            return {
                self.text(str(k)): self.value(member_value, str(k))
                for k, member_value in value.items()
            }
        if isinstance(value, (list, tuple)):
            return [self.value(item, member) for item in value]
        if value is not None and _SECRET_MEMBERS.search(member):
            return _HIDDEN_TEXT
        if value is None or isinstance(value, (bool, int, float)):
            return value
        text = value if isinstance(value, str) else f"<{type(value).__name__}>"
        if isinstance(value, datetime):
            text = value.isoformat()
        if _NUMBERS_OF_MEMBERS.search(member):
            text = _DIGITS.sub(RECORDED_ACCOUNT, text)
        return self.text(text)

    def _uuid(self, found: re.Match[str]) -> str:
        number = len(self._uuids) + 1
        return self._uuids.setdefault(found[0], f"00000000-0000-4000-8000-{number:012x}")


class CallRecorder:
    """
    Records the answers of clients.

    Attributes:
        scrubber: Removes secrets from everything that is written.
    """

    def __init__(self, folder: Path) -> None:
        self.scrubber = Scrubber()
        self._folder = folder
        self._step = "before"
        self._last = ""

    def hide(self, number: str, user_id: str, arn: str) -> None:
        """Hide the account's number, and the caller."""
        names = (
            {*user_id.split(":"), *arn.rpartition(":")[2].split("/")} - _IDENTITY_KINDS - {number}
        )
        for name in names:
            self.scrubber.hide(name, _HIDDEN_TEXT)
        self.scrubber.hide(number, RECORDED_ACCOUNT)

    def step(self, name: str) -> None:
        """Start the recording of a step."""
        self._step = name
        self._last = ""

    def listen(self, client: Any) -> None:
        """Record the answers of *client* from now on."""
        client.meta.events.register("before-parameter-build.*.*", _remember)
        client.meta.events.register("after-call.*.*", self._keep)

    def _keep(self, parsed: Document, model: Any, context: Document, **_: Any) -> None:
        row = {
            "service": model.service_model.service_name,
            "operation": model.name,
            "asked": self.scrubber.value(context.get("accept", {})),
        }
        answer = {key: member for key, member in parsed.items() if key != "ResponseMetadata"}
        if "Error" in answer:
            row["error"] = self.scrubber.value(answer["Error"])
        else:
            row["answer"] = self.scrubber.value(answer)
        line = json.dumps(row, sort_keys=True)
        if line != self._last:
            self._last = line
            self._folder.mkdir(parents=True, exist_ok=True)
            with (self._folder / f"{self._step}.jsonl").open("a", encoding="utf-8") as file:
                file.write(f"{line}\n")


def _remember(params: Document, context: Document, **_: Any) -> None:
    context["accept"] = dict(params)


class AccountPlace:
    """
    The account of the credentials, in one region.

    Attributes:
        account: Its number, 12 digits.

        endpoint: The address of the embedded AWS; empty on a real account.

        recorder: Records the answers.
    """

    def __init__(self, region: str, recorder: CallRecorder) -> None:
        """
        Find the account of the credentials.

        Raises:
            AcceptError: If an endpoint is set that is not on this machine.
        """
        self.region = region
        self.recorder = recorder
        self.endpoint = os.environ.get(ENDPOINT_VARIABLE, "")
        self._clients: dict[str, Any] = {}
        try:
            if self.endpoint:
                require_loopback(self.endpoint)
        except EmbeddedAwsError as error:
            msg = f"{ENDPOINT_VARIABLE} is {self.endpoint}, neither AWS nor this machine. Unset it."
            raise AcceptError(msg) from error
        caller = self.client("sts").get_caller_identity()
        recorder.hide(caller["Account"], caller["UserId"], caller["Arn"])
        self.account = str(caller["Account"])

    @property
    def is_embedded(self) -> bool:
        """True if it is the embedded AWS on this machine and not an account."""
        return bool(self.endpoint)

    @property
    def where(self) -> dict[str, str]:
        """Return the values by which a journal recognizes the place."""
        return {"account": self.account, "region": self.region, "endpoint": self.endpoint}

    def client(self, service: str) -> Any:
        """Return the client of *service*."""
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
