"""How a rule scores many boards at once, for those rules that can: fields of their records."""
