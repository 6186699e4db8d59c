"""
Records as log lines.

* `emf`  a line whose metrics CloudWatch extracts; the only module that knows aws-embedded-metrics
"""
