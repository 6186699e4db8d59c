"""
The one table.

* `table`    what the functions ask of it
* `values`   what they keep in it
* `dynamodb` requests of one DynamoDB table
* `layout`   what stands where
* `item`     a minute record as an item
* `pack`     many of them as one, and the records of either
"""
