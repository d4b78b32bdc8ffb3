"""Predictions scored against references that no one sees: references, phases, teams, and what people submit."""
