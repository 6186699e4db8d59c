"""The records of minutes, read again by whoever reduces them: close and settle."""
