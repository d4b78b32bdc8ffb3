"""Doing: every change to what is stored goes through a function of this package."""
