"""
What a month costs: of a fleet that is described, not of one that is looked at.

* `command`        the click command
* `settings`       what is asked: the emitters' settings, the stack's parameters, the fleet
* `question`       from settings to a question
* `fleet`          instances in clusters, and how they are set up
* `assumptions`    numbers that no code can measure, and the template's own
* `measurements`   sizes, requests and times that were found by running the code
* `measurements.json`   where they are kept
* `interpolation`  between what was measured, straight lines
* `tariff`         what AWS charges: `prices.toml`, and what a file of yours replaces
* `emitter_lines`  bytes of the lines of a fleet, and the metrics that they define
* `functions`      seconds and requests of the functions
* `bill`           one month, entry by entry
* `alternatives`   the same fleet by PutMetricData, and core by core
* `estimate`       all of it for one question
* `quantities`     amounts as people read them
* `listing`        an estimate for people and for programs

It needs no account, no network and no boto3. `benchmarks.scale` measures, and
makes docs/explanation/scale.md from the same bill.
"""
