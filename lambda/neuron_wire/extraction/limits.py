"""
What CloudWatch takes in one line, in numbers.

The specification and the types behind it differ in places: each is the stricter.
"""

from __future__ import annotations

import re
from typing import Final

MAX_LINE_BYTES: Final = 1_048_576 - 26  # one log event, less what PutLogEvents charges for it
MAX_METRICS: Final = 100  # definitions in one directive
MAX_DIMENSIONS: Final = 30  # keys in one dimension set
MAX_DIMENSION_NAME_CHARS: Final = 250
MAX_DIMENSION_VALUE_CHARS: Final = 1024
MAX_METRIC_NAME_CHARS: Final = 255
MAX_NAMESPACE_CHARS: Final = 255
MAX_VALUE: Final = 2.0**360
MAX_AGE_MS: Final = 14 * 24 * 3_600_000
MAX_FUTURE_MS: Final = 2 * 3_600_000
RESOLUTIONS: Final = (1, 60)  # seconds
UNITS: Final = frozenset(
    ["Seconds", "Microseconds", "Milliseconds", "Percent", "Count", "Count/Second", "None"]
    + [
        f"{scale}{base}{rate}".capitalize().replace("/s", "/S")
        for scale in ("", "kilo", "mega", "giga", "tera")
        for base in ("bytes", "bits")
        for rate in ("", "/Second")
    ]
)
NAMESPACE: Final = re.compile(r"[a-zA-Z0-9 ._#/-][a-zA-Z0-9 ._#:/-]*")
