"""
Every setting, declared once: flag, variable, key of the TOML file and help follow.

A field of a settings class is an option of its command. `cluster` is the flag
`--cluster`, the variable `NEURON_EMF_CLUSTER` and the key `cluster` of the
configuration file, looked up in this order; the help ends with the default.

* `declaration`  how a setting is declared, and what values it can take
* `minutes`      what every command that makes minutes must know
* `monitor`      what neuron-monitor is asked for
* `run`          the settings of `neuron-emf run`
* `replay`       the settings of `neuron-emf replay`
* `listen_address` where a page is served
* `options`      the options of a command, made from its settings
* `names`        names that CloudWatch must be able to take
"""

from emitter.settings.minutes import TIERS, MinuteSettings
from emitter.settings.monitor import MonitorSettings
from emitter.settings.names import require_cluster
from emitter.settings.replay import ReplaySettings
from emitter.settings.run import LOG_GROUP, RunSettings

__all__ = [
    "LOG_GROUP", "TIERS", "MinuteSettings", "MonitorSettings", "ReplaySettings", "RunSettings",
    "require_cluster",
]  # fmt: skip
