"""
The stack from the installed package: no clone, no SAM CLI.

| module | what it holds |
|---|---|
| `package` | what the wheel carries: two templates, and the functions, by their hashes |
| `plan` | what a template would create and what a month of it costs, without AWS |
| `bucket` | the bucket that keeps a release, in a small stack of its own |
| `stack` | the stack: what it has, what one deployment reaches, its end, what failed first |
| `change_set` | a change set, from its making to its execution, and what a person reads |
| `command` | the command |
"""
