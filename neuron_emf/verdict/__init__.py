"""
Whether an idle instance can be released, and by which commands.

It stops nothing. The verdict is a pure function over two sorts of facts, what log lines say
and what the account says, and over guards, each of which must hold. A fact that is not known
never passes a guard.
"""
