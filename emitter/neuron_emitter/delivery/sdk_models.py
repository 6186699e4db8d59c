"""
Load from the AWS SDK's data files only the parts that are needed to send log lines.

The SDK reads its list of all endpoints and the model of all operations of a service into
dictionaries: 11 MiB for two operations of one service. This module reads the same files and skips
the unneeded parts before they become objects. The rest is unchanged, so that a newer SDK finds what
it looks for. The SDK itself reads a file that has another form.

It depends only on the form of the two files, not on the SDK.
"""

from __future__ import annotations

import gzip
import re
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Final

from msgspec import MsgspecError, Raw, json

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

OPERATIONS: Final = ("CreateLogStream", "PutLogEvents")
# CloudWatch Logs and the services that give credentials: by web identity (EKS) or by a sign-on.
ENDPOINTS: Final = frozenset({"logs", "oidc", "portal.sso", "sso", "sts"})

# a reference to a shape; no quoted text in the files contains one
_SHAPE: Final = re.compile(r'"shape"\s*:\s*"(\w+)"')
_RAW_DECODER: Final = json.Decoder(dict[str, Raw])


def lean_loading(load_whole: Callable[[str], object]) -> Callable[[str], object]:
    """
    Return a replacement for the SDK's file loader *load_whole*.

    It loads only the needed parts of the two large files. *load_whole* loads all other files, and
    these two if their form is different.
    """

    def load_file(file_path: str) -> object:
        parts = Path(file_path).parts
        with suppress(AttributeError, IndexError, KeyError, OSError, TypeError, MsgspecError):
            if parts[-1] == "endpoints":
                return lean_endpoints(_text(file_path))
            if parts[-1] == "service-2" and parts[-3] == "logs":
                return lean_service(_text(file_path))
        return load_whole(file_path)

    return load_file


def lean_endpoints(text: bytes) -> dict[str, object]:
    """
    Return the partitions with their Regions, and of their services only `ENDPOINTS`.

    Raises:
        KeyError: If a part that is looked into is missing.
        msgspec.MsgspecError: If it is not JSON, or of another shape.
    """
    document = _RAW_DECODER.decode(text)
    partitions = []
    for raw in json.decode(document.pop("partitions"), type=list[Raw]):
        partition = _RAW_DECODER.decode(raw)
        every = _RAW_DECODER.decode(partition.pop("services"))
        services = {name: every[name] for name in ENDPOINTS if name in every}
        partitions.append({**_decoded(partition), "services": _decoded(services)})
    return {**_decoded(document), "partitions": partitions}


def lean_service(text: bytes) -> dict[str, object]:
    """
    Return the service model with `OPERATIONS` and the shapes that they need.

    Raises:
        KeyError: If an operation or a shape is missing.
        msgspec.MsgspecError: If it is not JSON, or of another shape.
    """
    document = _RAW_DECODER.decode(text)
    all_operations = _RAW_DECODER.decode(document.pop("operations"))
    all_shapes = _RAW_DECODER.decode(document.pop("shapes"))
    operations = {name: all_operations[name] for name in OPERATIONS}
    shapes = {}
    wanted = [*operations.values()]
    while wanted:
        for name in _SHAPE.findall(str(wanted.pop(), "utf-8")):
            if name not in shapes:
                shapes[name] = all_shapes[name]
                wanted.append(shapes[name])
    parts = {"operations": operations, "shapes": shapes}
    return {**_decoded(document), **{name: _decoded(part) for name, part in parts.items()}}


def _decoded(members: Mapping[str, Raw]) -> dict[str, object]:
    return {name: json.decode(value) for name, value in members.items()}


def _text(file_path: str) -> bytes:
    plain = Path(f"{file_path}.json")
    if plain.exists():
        return plain.read_bytes()
    return gzip.decompress(Path(f"{file_path}.json.gz").read_bytes())
