"""
What a month costs: of a fleet that is described, not of one that is looked at.

* `command`    the click command
* `settings`   what is asked: the emitters' settings, the stack's parameters, the fleet
* `fleet`      instances in clusters, and how they are set up
* `assumed`    numbers that no code can measure, and the template's own
* `measured`   sizes, requests and times that were found by running the code
* `measured.json`   where they are kept
* `interpolated`    between what was measured, straight lines
* `tariff`     what AWS charges: `prices.toml`, and what a file of yours replaces
* `added`      bytes that tags and common dimensions add to the lines
* `series`     metrics that the lines of a fleet define
* `functions`  seconds and requests of the functions
* `bill`       one month, entry by entry
* `other_ways` the same fleet by PutMetricData, and core by core
* `asked`      from settings to a question
* `estimate`   all of it for one question
* `tables`     the same for people
* `document`   the same for programs
* `written`    amounts as people read them

It needs no account, no network and no boto3. `benchmarks.scale` measures, and
makes docs/explanation/scale.md from the same bill.
"""
