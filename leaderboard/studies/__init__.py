"""Studies of how far a ranking can be trusted: what is planned, what is done, what was found."""
