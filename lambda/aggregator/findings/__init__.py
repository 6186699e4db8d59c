"""Findings for programs: they open, worsen and close, and each step is one event."""
