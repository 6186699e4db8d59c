"""
Every setting, declared once: flag, variable, key of the TOML file and help follow from it.

A field of a settings class is an option of its command. `cluster` is the flag `--cluster`, the
variable `NEURON_EMF_CLUSTER` and the key `cluster` of the configuration file, in this order of
precedence; the help ends with the default.
"""

from neuron_emitter.settings.minute_settings import MinuteSettings, ReplaySettings
from neuron_emitter.settings.run_settings import MonitorSettings, RunSettings

__all__ = ["MinuteSettings", "MonitorSettings", "ReplaySettings", "RunSettings"]
