"""Records as log lines."""

from emitter.lines.choice import Choice, parse_choice
from emitter.lines.legacy import differences
from emitter.lines.lines import Lines, check_settings
from emitter.lines.settings import LineIdentity, LineSettings
from emitter.lines.tags import check_tags, parse_tags

__all__ = [
    "Choice", "LineIdentity", "LineSettings", "Lines", "check_settings", "check_tags",
    "differences", "parse_choice", "parse_tags",
]  # fmt: skip
