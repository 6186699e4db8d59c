"""
The idle report: idle time and money of a period, for the person who pays.

It counts from the minute lines themselves, so late lines are in it, and says
where the rollups of the stack say something else.

* `settings`    what can be asked for
* `making`      how it is made of that
* `clock`       the time of day
* `period`      from when to when
* `held`        records that wait for others of their minute
* `holding`     who holds an idle core
* `amounts`     idle core minutes and their price
* `instances`   what one instance did in the period
* `counting`    minute records in, sums out
* `published`   what the rollups said
* `comparison`  both beside each other
* `insights`    the stack's saved queries, run
* `gathering`   where the lines come from
* `outcome`     the idle report itself, as values
* `figures`     amounts, moments and other people's names as text
* `sentences`   what the numbers mean

`showing` gives it to `terminal`, `document` (JSON), `spreadsheet` (CSV) and `page` (HTML).
"""
