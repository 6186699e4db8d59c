"""The one table."""
