"""What is said of a board beside its ranks: who led when, and who submitted how many systems."""
