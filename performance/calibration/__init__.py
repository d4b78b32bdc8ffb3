"""How often rank intervals, tests and standard errors are right, on simulated boards whose truth is known."""
