"""Computations that a request waits for, and their budget."""
