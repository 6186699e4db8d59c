"""What CloudWatch Logs hands to a function."""
