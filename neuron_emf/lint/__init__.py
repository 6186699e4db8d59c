"""Would CloudWatch extract these lines? For anyone who writes Embedded Metric Format."""
