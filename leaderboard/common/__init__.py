"""Tools for every other package: text, hashing, files, caches, limits, locks, middleware and charts."""
