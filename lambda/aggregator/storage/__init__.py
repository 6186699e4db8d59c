"""
The one table.

* `table`    what the functions ask of it
* `store`    the same in DynamoDB
* `dynamodb` requests of one DynamoDB table
* `layout`   what stands where
* `item`     a minute record as an item
* `pack`     many of them as one, and the records of either
"""
