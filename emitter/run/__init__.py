"""The running emitter."""
