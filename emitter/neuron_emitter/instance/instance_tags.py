"""
Read the instance's tags from the metadata service, or from the EC2 API as a last resort.

The metadata service has the tags only if the instance allows it; by default it does not. A tag key
with a slash cannot be among them, and an instance with such a tag, such as most EKS nodes, cannot
allow it. From https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/work-with-tags-in-IMDS.html

The API gets one signed request. botocore provides credentials, signature and TLS, and is loaded
only then. A client for EC2 would need 15 MB and a model of seven hundred operations for one
response. From https://docs.aws.amazon.com/AWSEC2/latest/APIReference/API_DescribeTags.html
"""

from __future__ import annotations

import re
import time
import xml.etree.ElementTree as ET
from collections.abc import Mapping
from contextlib import suppress
from threading import Thread
from typing import TYPE_CHECKING, Final
from urllib.parse import urlencode

from neuron_emitter.instance.local_http import LocalHttpError
from neuron_emitter.instance.metadata_service import METADATA_TIMEOUT_S

if TYPE_CHECKING:
    from collections.abc import Collection

    from neuron_emitter.instance.metadata_service import MetadataService

TAGS_PATH: Final = "/latest/meta-data/tags/instance"
MAX_INSTANCE_TAGS: Final = 60  # 50 of the owner, and those of AWS
_TAG_KEY: Final = re.compile(r"[A-Za-z0-9+\-=.,_:@]{1,255}")  # the keys that the page above allows
CONNECT_AND_READ_S: Final = (2.0, 3.0)
API_WITHIN_S: Final = 10.0  # finding credentials may need a service of its own
MAX_TAGS_BYTES: Final = 256 << 10

# The tags, or the reason why there are none.
Tags = Mapping[str, str]
_TagsOrReason = dict[str, str] | str


class TagsUnavailableError(Exception):
    """The tags cannot be read. The message has the reason in a few words."""


def read_metadata_tags(service: MetadataService, wanted: Collection[str]) -> Tags:
    """
    Return the tags among *wanted* from the metadata service.

    Raises:
        TagsUnavailableError: If they cannot be read.
    """
    ends_at_s = time.monotonic() + METADATA_TIMEOUT_S
    try:
        reply = service.get_reply(TAGS_PATH, ends_at_s=ends_at_s)
        if reply is None:
            msg = "tags in instance metadata are not enabled"
            raise TagsUnavailableError(msg)
        keys = reply.body.decode("utf-8", errors="replace").split("\n")[:MAX_INSTANCE_TAGS]
        return {
            key: service.get_text(f"{TAGS_PATH}/{key}", ends_at_s=ends_at_s) or ""
            for key in keys
            if key in wanted and _TAG_KEY.fullmatch(key)
        }
    except LocalHttpError as error:
        msg = f"the instance metadata service: {error}"
        raise TagsUnavailableError(msg) from error


def describe_tags(instance_id: str, region: str | None, *, environ: Mapping[str, str]) -> Tags:
    """
    Return all tags of the instance.

    Raises:
        TagsUnavailableError: If there is no answer in time, or no permission.
    """
    answers = []
    endpoint = environ.get("AWS_ENDPOINT_URL_EC2") or environ.get("AWS_ENDPOINT_URL")

    def ask() -> None:
        answers.append(_ask(instance_id, region, endpoint))

    # A thread, because the search for credentials has no time limit of its own.
    thread = Thread(target=ask, name="describe-tags", daemon=True)
    thread.start()
    thread.join(API_WITHIN_S)
    answer = answers[0] if answers else f"no response within {API_WITHIN_S:g} s"
    if isinstance(answer, str):
        raise TagsUnavailableError(answer)
    return answer


def _ask(instance_id: str, region: str | None, endpoint: str | None) -> _TagsOrReason:
    from botocore.auth import SigV4Auth  # noqa: PLC0415 - 8 MB if no other source has the name
    from botocore.awsrequest import AWSRequest  # noqa: PLC0415 - as above
    from botocore.httpsession import URLLib3Session  # noqa: PLC0415 - as above
    from botocore.session import get_session  # noqa: PLC0415 - as above
    from botocore.utils import get_environ_proxies  # noqa: PLC0415 - as above

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
            "Version": "2016-11-15",
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
        body = answer.raw.read(MAX_TAGS_BYTES)
        sender.close()
    except Exception as error:  # noqa: BLE001 - whatever botocore meets, there are no tags
        return f"failed with {type(error).__name__}"
    return _tags(body) if answer.status_code == 200 else _refusal(answer.status_code, body)


def _endpoint(region: str) -> str:
    suffix = "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
    return f"https://ec2.{region}.{suffix}/"


def _tags(body: bytes) -> _TagsOrReason:
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
    # LookupError and ValueError: the XML names an encoding that Python does not have
    with suppress(ET.ParseError, LookupError, ValueError):
        return ET.fromstring(body)  # noqa: S314 - from EC2 over TLS, and bounded
    return None
