"""What programs can act on: findings that open, worsen and close, each step one event."""
