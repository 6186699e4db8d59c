"""
Prove the product on a real account with one command, which removes everything it made.

| module | content |
|---|---|
| `recording` | answers of AWS, without secrets, in files that tests read |
| `resources` | create and remove resources: only with the journal and the tag |
| `context` | account, region, clients, lines and other things that the steps of a run share |
| `steps` | the path of a line, changes of the stack, and the list of all steps |
| `checks` | the steps about results for people and programs: ledger, alarms, events, messages |
| `queries` | the steps about saved queries |
"""
