"""
From the spool to a destination, without losing a record on the way.

* `sender`           when: a thread of its own, at this instance's moment of the minute
* `delivery`         what becomes of a batch after each answer
* `batches`          records cut into calls that the destination accepts
* `destination`      what a destination is asked and may answer
* `cloudwatch_logs`  a log stream; the only module that knows boto3
* `aws_failures`     which of its failures mean what
* `lines_out`        a text stream
* `waiting`          waits that can be cut short
"""
