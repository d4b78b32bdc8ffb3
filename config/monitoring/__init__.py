"""Monitoring a running site: logs, counts, and error reports."""
