"""
The stack from the installed package: no clone, no SAM CLI.

| module | what it holds |
|---|---|
| `package` | what the wheel carries: the template and the functions, by their hashes |
| `bucket` | the bucket that keeps them, in a small stack of its own |
| `parameters` | which a deployment may name, and which numbers of shards it reaches |
| `stack` | the stack: what it has, the end of a deployment, what failed first |
| `change_set` | a change set, from its making to its execution |
| `listing` | what a person reads before saying yes |
| `command` | the command |
"""
