"""
Who this instance is and which cluster it belongs to, when nobody says so.

* `facts`    what there is to know about an instance
* `machine`  a stable name for a machine that nobody names
"""
