"""
The records of one cluster and minute become its numbers, and its numbers lines.

Pure: no clock, no table. That several records of one instance and minute are
one, who holds the cores then and what a core costs is `neuron_wire`'s: the
operator's commands count alike.

* `rollup`       the numbers of one cluster, and the names behind them
* `amounts`      metrics that are each made of one number of the instances' minutes
* `cores`        how many cores did what, in the cluster and by instance type
* `flops`        FLOP/s as a share of what the chips could do
* `idle`         which cores are idle, for how long, what they cost
* `owners`       who holds them
* `stragglers`   instances that do less than others of their type
* `ranking`      the first few of any number of things
* `line`         a rollup as EMF lines: each type, then the cluster
* `listing`      the names as members of its line, cut where they are too many
"""
