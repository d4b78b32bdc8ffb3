"""The ranking rules, one file per family; each rule is a function from a Profile to an Outcome."""
