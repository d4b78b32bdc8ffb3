"""Benchmarks and their tasks: creating, changing, releasing, listing and exporting them."""
