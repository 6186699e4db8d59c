"""
The instance's tags from the EC2 API, in one signed request: the last resort.

It knows botocore, for credentials, signature and TLS, and loads it only when
called. It does without a client for EC2: that alone takes 15 MB for a model of
seven hundred operations, to be kept for ever for one answer. From
https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeTags.html
"""

from __future__ import annotations

import threading
import xml.etree.ElementTree as ET
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from emitter.instance.instance_tags import TagsUnavailableError

if TYPE_CHECKING:
    from collections.abc import Mapping

API_VERSION: Final = "2016-11-15"
CONNECT_AND_READ_S: Final = (2.0, 3.0)
WITHIN_S: Final = 10.0  # credentials may need a service of their own
MAX_ANSWER_BYTES: Final = 256 << 10

_Answer = dict[str, str] | str
"""The tags, or why there are none."""


def describe_tags(
    instance_id: str, region: str | None, *, environ: Mapping[str, str], within_s: float = WITHIN_S
) -> Mapping[str, str]:
    """
    All tags of the instance.

    Raises:
        TagsUnavailableError: If there is no answer in time, or no permission.
    """
    answers: list[_Answer] = []
    endpoint = environ.get("AWS_ENDPOINT_URL_EC2") or environ.get("AWS_ENDPOINT_URL")

    def ask() -> None:
        answers.append(_ask(instance_id, region, endpoint))

    # A thread, because the search for credentials has no bound of its own.
    thread = threading.Thread(target=ask, name="describe-tags", daemon=True)
    thread.start()
    thread.join(within_s)
    if not answers:
        msg = f"no response within {within_s:g} s"
        raise TagsUnavailableError(msg)
    if isinstance(answers[0], str):
        raise TagsUnavailableError(answers[0])
    return answers[0]


def _ask(instance_id: str, region: str | None, endpoint: str | None) -> _Answer:
    # Here and not above: 18 MB that nobody pays whose cluster has another source.
    from botocore.auth import SigV4Auth  # noqa: PLC0415
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415
    from botocore.httpsession import URLLib3Session  # noqa: PLC0415
    from botocore.session import get_session  # noqa: PLC0415
    from botocore.utils import get_environ_proxies  # noqa: PLC0415

    try:
        session = get_session()
        region = region or session.get_config_variable("region")
        if not region:
            return "not tried: no AWS region is set (use --region)"
        credentials = session.get_credentials()
        if credentials is None:
            return "not tried: no AWS credentials found"
        url = endpoint or _endpoint(region)
        query = {
            "Action": "DescribeTags",
            "Version": API_VERSION,
            "Filter.1.Name": "resource-id",
            "Filter.1.Value.1": instance_id,
        }
        headers = {"Content-Type": "application/x-www-form-urlencoded; charset=utf-8"}
        request = AWSRequest("POST", url, headers, urlencode(query).encode(), stream_output=True)
        SigV4Auth(credentials.get_frozen_credentials(), "ec2", region).add_auth(request)
        sender = URLLib3Session(
            verify=session.get_config_variable("ca_bundle") or True,
            proxies=get_environ_proxies(url),
            timeout=CONNECT_AND_READ_S,
        )
        answer = sender.send(request.prepare())
        body = answer.raw.read(MAX_ANSWER_BYTES)
        sender.close()
    except Exception as error:  # noqa: BLE001 - whatever botocore meets, there are no tags
        return f"failed with {type(error).__name__}"
    return _tags(body) if answer.status_code == 200 else _refusal(answer.status_code, body)


def _endpoint(region: str) -> str:
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://ec2.{region}.{suffix}/"


def _tags(body: bytes) -> _Answer:
    root = _document(body)
    if root is None:
        return "the response is not XML"
    return {
        item.findtext("{*}key") or "": item.findtext("{*}value") or ""
        for item in root.iterfind("{*}tagSet/{*}item")
    }


def _refusal(status: int, body: bytes) -> str:
    root = _document(body)
    code = None if root is None else root.findtext(".//Code")
    if code == "UnauthorizedOperation":
        return "access denied: the role does not allow ec2:DescribeTags"
    return f"status {status}" + (f", {code[:64]}" if code else "")


def _document(body: bytes) -> ET.Element | None:
    try:
        return ET.fromstring(body)  # noqa: S314 - from EC2 over TLS, and bounded
    except (ET.ParseError, LookupError, ValueError):  # the last two: an encoding Python lacks
        return None
