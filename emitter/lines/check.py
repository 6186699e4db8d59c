"""Refuse line settings that contradict each other, before the first line is written."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.errors import SettingsError
from emitter.lines.legacy import COMMON_DIMS
from emitter.lines.settings import LEGACY, NONE
from emitter.lines.tags import check_tags

if TYPE_CHECKING:
    from emitter.lines.settings import LineSettings


def check_settings(settings: LineSettings) -> None:
    """
    Let *settings* pass only if lines can be written that do what they ask for.

    Raises:
        SettingsError: If a tag cannot be one, a common dimension is not known, or
            dimensions or one-second metrics are asked for where none are defined.
    """
    check_tags(settings.tags, settings.tag_dimensions)
    for name in settings.common_dims:
        if name not in COMMON_DIMS:
            msg = (
                f"Unknown --common-dims {name[:40]!a}. Use {', '.join(COMMON_DIMS)}, or "
                "add a --tag."
            )
            raise SettingsError(msg)
    if settings.tier == NONE:
        for flag, is_given in (
            ("--tag-dimension", bool(settings.tag_dimensions)),
            ("--common-dims", bool(settings.common_dims)),
            ("--high-resolution-metrics", settings.high_resolution),
        ):
            if is_given:
                msg = (
                    f"{flag} needs metrics, but --metrics is none. Use another --metrics, or "
                    f"omit {flag}."
                )
                raise SettingsError(msg)
    if settings.tier == LEGACY and settings.tag_dimensions:
        msg = (
            "--tag-dimension needs ClusterName, which --metrics legacy does not "
            "have. Use another --metrics, or --common-dims."
        )
        raise SettingsError(msg)
