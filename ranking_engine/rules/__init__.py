"""The ranking rules, one family a file; each rule is a function from a Profile to an Outcome."""
