"""Scoring again once references are corrected, and what of it gets onto the board."""
