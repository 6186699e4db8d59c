"""
Logs Insights queries, run on log lines on this machine as its documentation says.

The page of the rehearsal draws the log widgets of the dashboard with it, and the
tests run every saved query of the stack on lines.

* `tree`        a query as commands and expressions
* `parser`      the text of a query, read into a tree
* `fields`      what Logs Insights finds in a line by itself
* `values`      what an expression is worth on a row
* `aggregates`  what `stats` makes of many rows
* `engine`      the rows that a query gives: `run(query, lines)`
"""
