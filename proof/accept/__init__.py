"""
The product on a real account, proven by one command, which removes what it made.

| module | what it holds |
|---|---|
| `recording` | answers of AWS, scrubbed, in files that tests read |
| `resources` | making and removing: nothing without the journal and the tag |
| `context` | account, region and clients, and what the steps of one run share, with its lines |
| `steps` | the way of a line and changes of the stack; the list of all steps |
| `checks` | the steps about what people and programs get: ledger, alarms, events, messages |
| `queries` | the steps about saved queries |
"""
