"""
What an alarm means, whom it concerns, what to do.

From the outside in; only `topic` knows a network:

* `function`  the handler
* `notification`  one transition of an alarm: people are told once, and it is never lost
* `event`     what EventBridge delivers of an alarm
* `subject`   what an alarm can be about
* `evidence`  what the table knows of the cluster: its last rollup, its cost today
* `explanation`  everything that a message is made of
* `finding`   what is known about one subject, in sentences, and what to do
* `idle`, `failures`      the findings about cores that do nothing, and about what fails
* `queries`, `commands`   what to type next
* `message`   all forms of one message, and how long each may be
* `text`      the one for people
* `chat`      the one for Slack and Teams, by Amazon Q
* `cloudwatch_members`  what CloudWatch's own message would have, for who reads those
* `message_line`        the message as a log line
* `topic`     SNS
* `members`   a kept rollup, read so that no value can break a message
* `foreign_text`  names that somebody else gave
"""

from aggregator.explain.function import handler

__all__ = ["handler"]
