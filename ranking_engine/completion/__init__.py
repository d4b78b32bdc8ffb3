"""What the scores that are there say about those that are missing: arrays in, arrays out."""
