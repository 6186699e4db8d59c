"""
Which minutes are published, in what order, and what is remembered of them.

* `run`          one run of close
* `outcome`      what that run did
* `reading`      the records of a minute, and no more than it can hold
* `registry`     which instances there are, which have gone silent, which are gone
* `runs`         the minutes in which one of them was there
* `room`         how many of them are remembered
* `publication`  what of a rollup has been published, and what is still due
"""
