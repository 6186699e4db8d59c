"""
The product on a real account, proven by one command, which removes what it made.

| module | what it holds |
|---|---|
| `place` | which account and region, and the clients of it |
| `recording` | answers of AWS, scrubbed, in files that tests read |
| `journal` | what a run is about to make, on the disk before it is made |
| `possession` | making and removing: nothing without the journal and the tag |
| `lines` | the lines of two clusters |
| `scene` | what the steps of one run share |
| `path`, `looking` | the steps: the way of a line and changes of the stack, what people see |
| `ledger` | the step about settled hours |
| `steps` | the list of steps, why the embedded AWS cannot judge some, what recordings decide |
"""
