"""Names as people write them: normal forms, look-alikes, near misses."""
