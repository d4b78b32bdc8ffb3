"""Ranks and the leading score over calendar time."""
