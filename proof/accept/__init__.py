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
| `path`, `looking`, `modes` | the steps: the way of a line, what people see, changes of the stack |
| `ledger` | the step about settled hours |
| `steps` | the list of steps, and why some cannot be judged on the embedded AWS |
| `facts` | what is believed of AWS and decided by a recording alone |
"""
