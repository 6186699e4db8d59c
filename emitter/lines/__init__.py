"""
Records as log lines.

* `settings`    who writes, and which metrics the lines define
* `check`       settings that contradict each other
* `choice`      metrics beyond those of the tier
* `metrics`     which members of a minute line are metrics, and by what
* `tags`        members that the operator adds, and what may not be one
* `lines`       each kind of record as its lines
* `minute`      the minute line, the further values, the single cores
* `runtime`     one runtime in one minute
* `event`       something that happened
* `report`      one report, with one-second metrics
* `raw`         one report as it came
* `dimensions`  by what CloudWatch counts the metrics of each tier
* `legacy`      the words of neuron-monitor-cloudwatch.py
* `properties`  other people's texts and numbers
* `draft`       a line before it is written
* `emf`         a draft as one EMF line; the only module that knows aws-embedded-metrics
* `submodules`  import parts of a package without the whole
"""

from emitter.lines.check import check_settings
from emitter.lines.choice import Choice, parse_choice
from emitter.lines.legacy import differences
from emitter.lines.lines import Lines
from emitter.lines.settings import LineIdentity, LineSettings
from emitter.lines.tags import check_tags, parse_tags

__all__ = [
    "Choice", "LineIdentity", "LineSettings", "Lines", "check_settings", "check_tags",
    "differences", "parse_choice", "parse_tags",
]  # fmt: skip
