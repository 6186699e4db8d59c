"""
The product on a real account, proven by one command, which removes what it made.

| module | what it holds |
|---|---|
| `recording` | answers of AWS, scrubbed, in files that tests read |
| `journal` | what a run is about to make, on the disk before it is made |
| `possession` | making and removing: nothing without the journal and the tag |
| `scene` | account, region and clients, and what the steps of one run share, with its lines |
| `path`, `looking` | the steps: the way of a line and changes of the stack, what people see |
| `ledger` | the step about settled hours |
| `steps` | the list of steps, and why the embedded AWS cannot judge some |
"""
