"""What the emitter tells of itself."""
