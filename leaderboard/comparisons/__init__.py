"""Comparing two systems, rules or revisions, and the history of ranks."""
