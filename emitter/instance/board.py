"""
The instance id that EC2 writes on the virtual mainboard: no network, no permission.

Instances built on the Nitro system, as all with Neuron devices are, hold it in
the asset tag, which every user of the machine may read, also in a container.
From https://docs.aws.amazon.com/AWSEC2/latest/UserGuide/identify_ec2_instances.html
"""

from __future__ import annotations

import re
from pathlib import Path
from typing import Final

from emitter.instance.small_files import read_text

ASSET_TAG_FILE: Final = "sys/devices/virtual/dmi/id/board_asset_tag"

# Ids have 17 digits, those from before 2016 had 8.
_INSTANCE_ID: Final = re.compile(r"i-(?:[0-9a-f]{17}|[0-9a-f]{8})")


def board_instance_id(root: Path = Path("/")) -> str | None:
    """The id, or None on every machine that is no Nitro instance."""
    tag = read_text(root / ASSET_TAG_FILE)
    return tag if tag and _INSTANCE_ID.fullmatch(tag) else None
