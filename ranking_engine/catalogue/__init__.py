"""All rules: their records, which one fits a board, and how to rank by the name of a rule."""
