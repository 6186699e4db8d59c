"""
Which stack an operator's command looks at, and the clients to read it.

The one module of the commands that knows boto3; it acts with the credentials of
whoever types, and only `deploy` changes anything. With `--rehearsal` the clients
reach the embedded AWS of `make demo` on this machine and nothing else: the page
of the rehearsal says where that is.
"""

from __future__ import annotations

import http.client
import ipaddress
import json
import urllib.parse
import urllib.request
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from emitter.delivery.aws_failures import SDK_NOT_SENT, bounded, unreachable
from emitter.errors import SettingsError, SourceError
from emitter.settings import LOG_GROUP
from emitter.settings.declaration import setting

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

REHEARSAL: Final = "http://127.0.0.1:8600/rehearsal.json"
"""Where the page of `make demo` says how its embedded AWS is reached."""

_REHEARSAL_TIMEOUT_S: Final = 5.0
_MAX_ANSWER_BYTES: Final = 65_536
_CONNECT_TIMEOUT_S: Final = 5
_READ_TIMEOUT_S: Final = 30
_MAX_ATTEMPTS: Final = 5
_READER_OF_ANSWERS: Final = "botocore.endpoint"
_MALFORMED: Final = (ArithmeticError, AttributeError, LookupError, TypeError, ValueError)
"""What reading an answer of another form than expected ends with."""


@dataclass(frozen=True, kw_only=True)
class AccountSettings:
    """The settings by which a command finds a stack and its lines."""

    stack_name: str = setting("neuron-emf", "Name of the deployed stack.", metavar="NAME")
    log_group: str = setting(
        LOG_GROUP, "Log group of the lines; the stack's output EmitterLogGroupName.", metavar="NAME"
    )
    rollups_log_group: str = setting(
        "",
        "Log group of the rollups; by default /neuron-emf/STACK/rollups.",
        metavar="NAME",
    )
    region: str | None = setting(
        None, "AWS region; by default the one the AWS SDK finds.", metavar="NAME", short="-r"
    )
    rehearsal: bool = setting(
        default=False,
        help_text="Read the rehearsal that `make demo` runs on this machine instead of an account.",
    )


@dataclass(frozen=True, slots=True)
class Account:
    """
    Where to read.

    Attributes:
        log_group: Of the emitters' lines.

        rollups_log_group: Of the rollups.

        stack_name: Of the stack, under which its queries are saved.

        is_rehearsal: It is no account, but the embedded AWS on this machine.
    """

    log_group: str
    rollups_log_group: str
    stack_name: str
    is_rehearsal: bool
    _region: str | None
    _endpoint_url: str | None

    @property
    def region(self) -> str | None:
        """The AWS region; None where nobody has set one."""
        import boto3  # noqa: PLC0415 - as in `client`

        return self._region or boto3.session.Session().region_name

    def client(self, service: str, region: str | None = None) -> Any:  # noqa: ANN401  # boto3 publishes no types
        """
        A client of *service*, such as `logs`, in *region* or the account's own.

        Raises:
            SettingsError: If no region is known, or none of that name exists.
        """
        import boto3  # noqa: PLC0415 - half a second that commands on files need not wait
        from botocore.config import Config  # noqa: PLC0415 - as above
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415 - as above

        keys: dict[str, str] = {}
        way: dict[str, dict[str, str]] = {}
        if self.is_rehearsal:
            # Any credentials will do, real ones must not be sent, and no proxy leads here.
            keys = {"aws_access_key_id": "rehearsal", "aws_secret_access_key": "rehearsal"}
            way = {"proxies": {}}
        config = Config(
            connect_timeout=_CONNECT_TIMEOUT_S,
            read_timeout=_READ_TIMEOUT_S,
            retries={"mode": "standard", "total_max_attempts": _MAX_ATTEMPTS},
            **way,
        )
        try:
            session = boto3.session.Session(region_name=region or self._region, **keys)
            return session.client(service, endpoint_url=self._endpoint_url, config=config)
        except BotoCoreError as error:
            advice = _ADVICE.get(type(error).__name__, "Check the settings of the AWS SDK.")
            said = " ".join(str(error).split())[:300]
            msg = f"Cannot connect to AWS: {said.rstrip('.')}. {advice}"
            raise SettingsError(msg) from error


def account(settings: AccountSettings) -> Account:
    """
    Find what *settings* name.

    Raises:
        SourceError: If a rehearsal is asked for and none runs on this machine.
    """
    if settings.rehearsal:
        return _rehearsal()
    return Account(
        log_group=settings.log_group,
        rollups_log_group=settings.rollups_log_group
        or f"/neuron-emf/{settings.stack_name}/rollups",
        stack_name=settings.stack_name,
        is_rehearsal=False,
        _region=settings.region,
        _endpoint_url=None,
    )


def error_code(error: Exception) -> str:
    """AWS's code of *error*, such as `ValidationError`; empty for what is no answer of AWS."""
    response: Mapping[str, Any] = getattr(error, "response", {})
    return str(response.get("Error", {}).get("Code", ""))


def is_refusal(error: Exception) -> bool:
    """
    Whether *error* is what a client raises when AWS refuses or does not answer.

    An answer of no shape that the SDK knows, such as that of a proxy, breaks it
    where it reads answers, with errors of any kind.
    """
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - as above

    if isinstance(error, (BotoCoreError, ClientError)):
        return True
    trace = error.__traceback__
    while trace is not None:
        if trace.tb_frame.f_globals.get("__name__") == _READER_OF_ANSWERS:
            return True
        trace = trace.tb_next
    return False


@contextmanager
def documented(action: str) -> Iterator[None]:
    """
    Call *action* and read its answer in this: what AWS refuses or does not document is said.

    Raises:
        SourceError: If it is refused, or a member of the answer is missing or has another type.
    """
    try:
        yield
    except Exception as error:
        if is_refusal(error):
            raise refusal(error, action) from error
        if not isinstance(error, _MALFORMED):
            raise
        msg = (
            f"Unexpected response to {action} ({type(error).__name__}). "
            "Check for a proxy between this machine and AWS, then try again."
        )
        raise SourceError(msg) from error


def refusal(error: Exception, action: str) -> SourceError:
    """*error* of *action*, such as `logs:FilterLogEvents`, as a sentence for a person."""
    if SDK_NOT_SENT & {kind.__name__ for kind in type(error).__mro__}:
        return SourceError(" ".join(unreachable(bounded(str(error)))))
    code = error_code(error)[:100] or type(error).__name__
    advice = _ADVICE.get(code, "Check the error in the AWS documentation, then try again.")
    said = " ".join(str(error).split())[:300]
    return SourceError(f"{action} failed ({code}): {said.rstrip('.')}. {advice}")


_DIRECTLY: Final = urllib.request.build_opener(urllib.request.ProxyHandler({}))

_ADVICE: Final[Mapping[str, str]] = {
    "AccessDeniedException": "Allow this action in your IAM policy.",
    "ExpiredTokenException": "Renew your credentials.",
    "NoCredentialsError": "Configure AWS credentials.",
    "NoRegionError": "Use --region.",
    "ProfileNotFound": "Correct AWS_PROFILE, or add the profile to the AWS SDK's configuration.",
    "ResourceNotFoundException": "Check the names of the log group, the stack and the region.",
    "UnrecognizedClientException": "Check your credentials.",
}


def rehearsal_document(name: str) -> Any:  # noqa: ANN401  # JSON of the rehearsal
    """
    What the rehearsal on this machine says under *name*, such as `rehearsal.json`.

    Raises:
        SourceError: If none runs.
    """
    address = urllib.parse.urljoin(REHEARSAL, name)
    try:
        with _DIRECTLY.open(address, timeout=_REHEARSAL_TIMEOUT_S) as answer:
            return json.loads(answer.read(_MAX_ANSWER_BYTES))
    except (*_MALFORMED, OSError, RecursionError, http.client.HTTPException) as error:
        raise _no_rehearsal(address) from error


def rehearsed_account(place: Mapping[str, Any]) -> Account:
    """
    The account of a rehearsal at *place*, as the rehearsal describes it.

    Raises:
        LookupError: If a member is missing.
        ValueError: If it is not on this machine.
    """
    return Account(
        log_group=str(place["log_group"]),
        rollups_log_group=str(place["rollups_log_group"]),
        stack_name=str(place["stack_name"]),
        is_rehearsal=True,
        _region=str(place["region"]),
        _endpoint_url=_loopback(str(place["endpoint_url"])),
    )


def _rehearsal() -> Account:
    try:
        return rehearsed_account(rehearsal_document("rehearsal.json"))
    except _MALFORMED as error:
        raise _no_rehearsal(REHEARSAL) from error


def _no_rehearsal(address: str) -> SourceError:
    return SourceError(
        f"No rehearsal answers at {address}. "
        "Run `make demo` in a clone of the repository and wait until it prints this address."
    )


def _loopback(endpoint_url: str) -> str:
    """
    *endpoint_url*, which was found by asking: a rehearsal must not lead to an account.

    Raises:
        ValueError: If its host is not the number of a loopback address.
    """
    parts = urllib.parse.urlsplit(endpoint_url)
    host = ipaddress.ip_address(parts.hostname or "")
    if parts.scheme != "http" or not host.is_loopback:
        raise ValueError(endpoint_url)
    # Made anew: in http://a.example\@127.0.0.1 the SDK sees another host than the one above.
    name = str(host) if host.version == 4 else "[::1]"
    return f"http://{name}:{parts.port or http.client.HTTP_PORT}"
