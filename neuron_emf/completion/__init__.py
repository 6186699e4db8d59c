"""
What a shell needs to complete commands, options and their values: click's own script.

* `script`    the script of a shell, and how to have it each time
* `command`   what is typed
"""
