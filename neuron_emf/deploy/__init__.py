"""
Deploy the stack from the installed package, without a clone or the SAM CLI.

| module | content |
|---|---|
| `package` | the release in the wheel, by its hashes, and the bucket that keeps a release |
| `plan` | resources and cost of a template, and the types without a price |
| `stack` | the stack: its state, the reach of one deployment, its end, the first failure |
| `change_set` | a change set, from its creation to its execution, and its listing |
| `removal` | the effects of a deletion, what stays and its cost |
| `command` | the command |
"""
