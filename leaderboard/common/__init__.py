"""What every other package may use: text, hashing, files, caches, limits, locks, middleware and charts."""
