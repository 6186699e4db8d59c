"""
The stack from the installed package: no clone, no SAM CLI.

| module | what it holds |
|---|---|
| `package` | what the wheel carries, by its hashes, and the bucket that keeps a release |
| `plan` | what a template would create and cost, and the types without a price |
| `stack` | the stack: what it has, what one deployment reaches, its end, what failed first |
| `change_set` | a change set, from its making to its execution, and what a person reads |
| `removal` | what a deletion removes, what stays and costs |
| `command` | the command |
"""
