"""
The idle report: idle time and money of a period, for the person who pays.

It counts from the ledger, and from minute lines where the ledger has none or it is told so:
then late lines are in it, and it says where the rollups of the stack say something else.

* `settings`       what can be asked for
* `command`        `neuron-emf report`, and where the report goes
* `collection`     reads files or an account, and makes the report of it
* `ledger_reading` which hours are settled, and their rows
* `saved_queries`  the stack's saved queries, run
* `buffer`         records that wait for others of their minute
* `apportionment`  amounts that add up to the last digit
* `amounts`        idle core minutes and their price, core time, coverage
* `counting`       minute records in, sums out
* `comparison`     the sums beside what the rollups said
* `idle_report`    the idle report itself, as values
* `sentences`      what the numbers mean

`terminal` prints it, `page` makes HTML of it (`page.html`), `exports` JSON and CSV.
"""
