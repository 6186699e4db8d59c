"""
What the stack's functions cost: processor time, memory, what the table bills.

* `fleet`        the records and the lines of many instances
* `table_files`  a minute of a fleet as the table has it, on disk
* `dynamodb`     what the functions ask instead of DynamoDB, and what it would bill
* `close_runs`   one minute closed, in a process of its own
* `deliveries`   lines delivered to ingest, in a process of its own
* `rows`         both as rows of the table
"""
