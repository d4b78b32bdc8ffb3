"""Boards with resampled tasks, many at once."""
