"""Studies of how stable a ranking is: planning them, running them, and their results."""
