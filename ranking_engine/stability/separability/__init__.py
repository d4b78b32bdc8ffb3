"""Which neighbours of a ranking can be told apart: tests of pairs, under the rule itself."""
