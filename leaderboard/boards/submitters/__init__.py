"""Who entered how many systems, beside those that are on the board."""
