"""Submissions by the batch: how far each has come, the page of one, the list of someone's own."""
