"""
The idle report: idle time and money of a period, for the person who pays.

`collection` reads ledgers or minute lines, `terminal` prints the report, and `exports` makes JSON,
CSV and HTML (`page.html`) from it.
"""
