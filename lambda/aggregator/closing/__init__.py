"""
Which minutes are published, in what order, and what is remembered of them.

* `run`          one run of close
* `outcome`      what that run did
* `registry`     which instances there are, which have gone silent, which are gone
* `publication`  what of a rollup has been published, and what is still due
"""
