"""Two of a kind side by side: systems, rules, revisions, and the history of ranks."""
