"""
What the stack's functions cost: processor time, memory, what the table bills.

* `fleet`       the records and the lines of many instances
* `prepared`    a minute of a fleet as the table has it, on disk
* `dynamodb`    what the functions ask instead of DynamoDB, and what it would bill
* `closing`     one minute closed, in a process of its own
* `delivering`  lines delivered to ingest, in a process of its own
* `figures`     both as rows of the table
"""
