"""Benchmarks that follow addresses: what is fetched, how it is compared with the board, and the owner's page."""
