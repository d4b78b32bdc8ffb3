"""How far a ranking can be trusted: one study a file."""
