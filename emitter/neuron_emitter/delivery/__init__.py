"""From the spool to a destination, without losing a record on the way."""
