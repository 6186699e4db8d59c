"""
Names of log groups and log streams: which are possible, and which stream an instance has.

Pure. A stream's name comes from the template of `--log-stream`. The default,
`{instance}`, gives each instance a stream of its own. CreateLogStream allows 50
a second for a whole account, so 100,000 instances that start together would need
more than half an hour; `{cluster}/{shard:256}` lets them share 256 streams.
Nothing is lost by sharing: PutLogEvents has no limit per stream any more, and
each line names its instance. From
https://docs.aws.amazon.com/AmazonCloudWatchLogs/latest/APIReference/API_CreateLogStream.html
and https://docs.aws.amazon.com/AmazonCloudWatch/latest/logs/cloudwatch_limits_cwl.html
"""

from __future__ import annotations

import hashlib
import re
from typing import Final

from emitter.errors import SettingsError

MAX_NAME_CHARS: Final = 512
MAX_SHARDS: Final = 1000
PLACEHOLDERS: Final = ("{cluster}", "{instance}", "{region}", "{shard:N}")

_GROUP: Final = re.compile(r"(?!aws/)[.\-_/#A-Za-z0-9]{1,512}")
_STREAM: Final = re.compile(r"[^:*]{1,512}")
_IMPOSSIBLE: Final = re.compile(r"[:*\s]")
_PIECE: Final = re.compile(r"\{([^{}]*)\}|([^{}]+)|([{}])")
_SHARD: Final = re.compile(r"shard:([1-9][0-9]{0,3})")
_HASH_BYTES: Final = 8


def require_group(name: str) -> str:
    """
    Give *name* back if a log group can have it.

    Raises:
        SettingsError: If not.
    """
    if not _GROUP.fullmatch(name):
        msg = f"Invalid --log-group {name[:80]!r}. Use 1 to 512 of a-z A-Z 0-9 . - _ / #."
        raise SettingsError(msg)
    return name


def require_stream(name: str) -> str:
    """
    Give *name* back if a log stream can have it.

    Raises:
        SettingsError: If not.
    """
    if not _STREAM.fullmatch(name):
        msg = f"Invalid log stream {name[:80]!r}. Use 1 to 512 characters without : and *."
        raise SettingsError(msg)
    return name


def require_template(template: str, *, region: str | None) -> str:
    """
    Give *template* back if every instance can get a name from it.

    Raises:
        SettingsError: If it has an unknown placeholder or a character that no
            name can have, or needs a region and there is none.
    """
    stream_name(template, cluster="c", instance_id="i", region=region)
    return template


def stream_name(template: str, *, cluster: str, instance_id: str, region: str | None = None) -> str:
    """
    The log stream of *instance_id*, by *template*.

    In values, what a name cannot have becomes a hyphen. A name that would be too
    long ends in a hash of all of it, so that two instances still have two streams.

    Raises:
        SettingsError: As `require_template` does.
    """
    values = {"cluster": cluster, "instance": instance_id, "region": region}
    name = ""
    for inside, text, brace in _PIECE.findall(template):
        if brace or _IMPOSSIBLE.search(text):
            raise _wrong(template, "an unmatched brace, white space, : or *")
        if text:
            name += text
        elif shard := _SHARD.fullmatch(inside):
            if (shards := int(shard[1])) > MAX_SHARDS:
                raise _wrong(template, f"{shards} shards")
            name += _shard(instance_id, shards)
        elif inside not in values:
            raise _wrong(template, f"the unknown placeholder {{{inside[:40]}}}")
        elif (value := values[inside]) is None:
            msg = f"--log-stream contains {region}, but no AWS region is set. Use --region NAME."
            raise SettingsError(msg)
        else:
            name += _IMPOSSIBLE.sub("-", value)
    if not name:
        raise _wrong(template, "nothing")
    if len(name) > MAX_NAME_CHARS:
        digest = hashlib.blake2b(name.encode(), digest_size=_HASH_BYTES).hexdigest()
        name = f"{name[: MAX_NAME_CHARS - len(digest) - 1]}-{digest}"
    return name


def _shard(instance_id: str, shards: int) -> str:
    """The same number for an instance on every machine and Python, padded to sort."""
    digest = hashlib.blake2b(instance_id.encode(), digest_size=_HASH_BYTES, person=b"shard")
    number = int.from_bytes(digest.digest(), "big") % shards
    return f"{number:0{len(str(shards - 1))}}"


def _wrong(template: str, problem: str) -> SettingsError:
    known = ", ".join(PLACEHOLDERS)
    return SettingsError(
        f"Invalid --log-stream {template[:80]!r}: it has {problem}. Use a name "
        f"with {known} (N from 1 to {MAX_SHARDS})."
    )
