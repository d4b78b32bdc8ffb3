"""How stable a ranking is: bootstrap intervals, tests of differences, and the studies, one file per study."""
