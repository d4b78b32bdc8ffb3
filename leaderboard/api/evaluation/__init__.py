"""Predictions: submitted, looked up, scored again, and evaluated by programs of the owners."""
