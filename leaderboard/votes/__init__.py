"""Votes as a benchmark's data: batches of them, decisions, ratings, and the scores that come of these."""
