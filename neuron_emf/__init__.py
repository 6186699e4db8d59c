"""
The operator's commands, for a laptop or an instance: one folder for each command.

Each folder has a module `command` with the click command, which `cli` imports when it is called.
`run` and `replay` are the emitter's own. An emitter that runs imports only `cli`.
"""
