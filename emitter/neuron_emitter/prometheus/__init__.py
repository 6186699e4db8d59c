"""
The values of the last report on a page for Prometheus: `run --prometheus`.

The page is a view of the fold, never a second source. Without the option, nothing is loaded, kept
or opened.
"""
