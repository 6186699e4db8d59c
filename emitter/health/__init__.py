"""
What the emitter tells of itself.

* `members`     its own numbers in every minute line
* `pulse`       a file by which a health check sees that it works
* `supervisor`  READY, WATCHDOG and STOPPING for systemd
"""
