"""
The stack from the installed package: no clone, no SAM CLI.

| module | what it holds |
|---|---|
| `package` | what the wheel carries: the template and the functions, by their hashes |
| `bucket` | the bucket that keeps them, in a small stack of its own |
| `shards` | which numbers of shards one deployment reaches |
| `stack` | the stack: what it has, the change set, its execution |
| `listing` | what a person reads before saying yes |
| `command` | the command |
"""
