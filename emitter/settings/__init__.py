"""
Every setting, declared once: flag, variable, key of the TOML file and help follow.

A field of a settings class is an option of its command. `cluster` is the flag
`--cluster`, the variable `NEURON_EMF_CLUSTER` and the key `cluster` of the
configuration file, looked up in this order; the help ends with the default.
"""

from emitter.settings.minutes import (
    TIERS,
    Amount,
    MinuteSettings,
    ReplaySettings,
    Texts,
    advanced,
    require_cluster,
    setting,
)
from emitter.settings.run import (
    LOG_GROUP,
    LogGroupSettings,
    MonitorSettings,
    RegionSettings,
    RunSettings,
)

__all__ = [
    "LOG_GROUP", "TIERS", "Amount", "LogGroupSettings", "MinuteSettings", "MonitorSettings",
    "RegionSettings", "ReplaySettings", "RunSettings", "Texts", "advanced", "require_cluster",
    "setting",
]  # fmt: skip
