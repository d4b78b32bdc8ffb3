"""Which neighbours of a ranking differ significantly: tests of pairs, under the rule itself."""
