"""How stable a ranking is: one file per study."""
