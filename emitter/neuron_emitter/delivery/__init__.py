"""Delivery: take records from the spool to a destination without losing any."""
