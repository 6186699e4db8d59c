"""
The idle report: idle time and money of a period, for the person who pays.

It counts from the ledger, and from minute lines where the ledger has none or it is told so:
then late lines are in it, and it says where the rollups of the stack say something else.

`terminal` prints it, `page` makes HTML of it (`page.html`), `exports` JSON and CSV.
"""
