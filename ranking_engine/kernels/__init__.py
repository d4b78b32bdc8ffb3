"""How some rules score many boards at once: fields of their records."""
