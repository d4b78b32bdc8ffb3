"""Files with results as people choose them: what their columns are, what was said of them, and the pages that ask."""
