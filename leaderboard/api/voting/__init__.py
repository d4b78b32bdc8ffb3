"""Votes: ratings, batches, and how they are rated."""
