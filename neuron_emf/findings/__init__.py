"""
The findings that are open, as close keeps them in the stack's table.

* `command`   `neuron-emf findings`
* `settings`  what it can be told
* `reading`   the stack's table
* `listing`   findings as a table
"""
