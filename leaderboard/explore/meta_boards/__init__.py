"""Meta-boards: benchmarks as voters over the systems that they share, saved under an address."""
