"""How sure a ranking is: separable neighbours, intervals, and tasks that depend on each other."""
