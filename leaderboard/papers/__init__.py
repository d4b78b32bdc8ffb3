"""The recomputed papers as `make papers` left them: `results.json`, with what its page draws."""
