"""The board of a benchmark: what a reader asks for, the rows that answer it, and the pages of its systems and rules."""
