"""
The records of minutes, read again by whoever reduces them: close and settle.

* `bucket_reader`   the records of one bucket of a minute, and no more than a run can hold
* `capacity`        how many instances of a bucket are remembered
* `reading_counts`  what was read and what was left out
* `processes`       the same question to several processes
* `clock`           the time that a run has
"""
