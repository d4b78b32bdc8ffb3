"""Which rules there are, which one fits a board, and how a rule is applied by name."""
