"""What an operator learns of a running site: logs, counts, and reports of errors."""
