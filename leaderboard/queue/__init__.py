"""Background jobs: what kinds there are, how they are claimed, split, retried, and how workers are woken."""
