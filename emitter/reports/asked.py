"""What neuron-monitor is asked for, by settings or by a file of the user."""

from __future__ import annotations

from typing import TYPE_CHECKING

from emitter.reports.monitor_config import ALL, UserConfig, monitor_config, read_monitor_config

if TYPE_CHECKING:
    from emitter.settings import MonitorSettings


def asked_for(settings: MonitorSettings) -> UserConfig:
    """
    The configuration to start neuron-monitor with.

    Raises:
        SettingsError: If the file cannot be used, or a group is none.
    """
    if settings.monitor_config is not None:
        return read_monitor_config(settings.monitor_config)
    groups = settings.groups or ALL
    return UserConfig(
        text=monitor_config(settings.period, groups, settings.tag_filter),
        period_s=settings.period,
        groups=groups,
        tag_filter=settings.tag_filter,
        warnings=(),
    )
