"""The records of all rules, a module a family: every name `RULES` here is in the catalogue."""
