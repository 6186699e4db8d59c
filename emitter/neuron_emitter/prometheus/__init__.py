"""
The values of the last report on a page for Prometheus: `run --prometheus`.

A view of the fold, never a second truth. Nothing is loaded, kept or opened
without the option.
"""
