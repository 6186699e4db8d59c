"""The running emitter and its parts."""
