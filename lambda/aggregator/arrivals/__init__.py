"""
What CloudWatch Logs hands to a function.

* `log_line`   one event of a log group
* `unpacking`  a compressed delivery, unpacked in bounded memory
"""
