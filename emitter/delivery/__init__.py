"""
From the spool to a destination, without losing a record on the way.

* `outputs`          which destination the settings ask for
* `sender`           when: a thread of its own, at this instance's moment of the minute
* `delivery`         what becomes of a batch after each answer
* `batches`          records cut into calls that the destination accepts
* `destination`      what a destination is asked and may answer
* `cloudwatch_logs`  a log stream; the only module that knows the AWS SDK
* `aws_failures`     which of its failures mean what
* `rejections`       which events of a call it did not take
* `sdk_models`       of the SDK's own data, what sending log lines needs
* `log_names`        names of log groups and streams, and which one an instance has
* `agent_socket`     the CloudWatch agent's EMF socket
* `agent_lines`      lines as that agent wants them
* `rotating_file`    a file that is rotated
* `whole_lines`      a file that is appended to in whole lines
* `lines_out`        a text stream
* `waiter`           waits that can be cut short
"""
