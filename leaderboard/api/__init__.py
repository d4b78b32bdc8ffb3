"""The REST API under /api/: thin views that ask selectors, call services and answer in JSON or CSV."""
