"""What readers can try without changing anything: other weights, their own tables, several benchmarks at once."""
