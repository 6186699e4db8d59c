"""
What each owner pays of a month: at list cost, or of AWS's own bill.

* `command`         the click command
* `settings`        its settings
* `month`           which month, and its hours
* `decimals`        decimal numbers split so that what goes in comes out
* `focus_columns`   the columns of FOCUS, and what each is to a split
* `charges`         rows of a bill, kept in little memory until their hour comes
* `meters`          which charges are hours of Neuron instances
* `bill_file`       one file of AWS's FOCUS 1.2 export
* `bill_reader`     a month's bill out of its files
* `reservations`    capacity reservations: how many instances from when to when
* `fees`            upfront fees of capacity blocks, spread over their hours
* `allocation`      one hour: ledger and charges become rows of owners
* `ledger_hours`    the ledger's rows, hour by hour
* `focus_file`      rows of owners as a FOCUS 1.3 file
* `totals`          what came in and what went out, by team and owner
* `run`             all of it, in order
* `listing`         the summary for a terminal

`decimals`, `fees` and `allocation` are pure: no file, no clock, no network.
The specification is https://focus.finops.org/focus-specification/, versions 1.2 and 1.3.
"""
