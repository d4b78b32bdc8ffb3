"""The board of a benchmark: the reader's query, the rows of the answer, and the pages of its systems and rules."""
