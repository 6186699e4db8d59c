"""
What CloudWatch Logs hands to a function.

* `arrival`    what one invocation brought: deliveries and their lines
* `unpacking`  a compressed delivery, unpacked in bounded memory
"""
