"""Background jobs: their kinds, how they are claimed, split and retried, and how workers are woken."""
