"""
What programs can act on: findings that open, worsen and close, each step one event.

* `steps`             the rules, pure: what a minute makes of a finding
* `detail`            a step as the members of its event
* `bucket_findings`   the findings of instances, by bucket of the instance
* `cluster_findings`  those of owners, and what is one event for a whole fleet
* `book`              all of them, as one run of close keeps it
* `outbox`            the events that are due, sent oldest first
* `event_bus`         EventBridge
"""
