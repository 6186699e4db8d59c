"""
The idle report: idle time and money of a period, for the person who pays.

A face of *then*: `collection` reads ledgers or minute lines into it, `terminal` prints it,
`exports` makes JSON, CSV and HTML (`page.html`) of it.
"""
