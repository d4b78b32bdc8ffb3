"""The recomputed papers, as written by `make papers`: `results.json`, and the figures of its page."""
