"""Predictions scored against references that nobody sees: references, phases, teams, and what people submit."""
