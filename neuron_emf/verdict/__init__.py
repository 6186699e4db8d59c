"""
Decide whether an idle instance can be released, and by which commands.

It stops nothing. The verdict is a pure function of two kinds of facts, from log lines and from the
account, and of guards. Every guard must pass, and an unknown fact never passes a guard.
"""
