"""Which systems of several benchmarks are the same model, as the owners of each benchmark declare."""
