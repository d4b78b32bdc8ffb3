"""Hidden references, phases, teams; predictions, and programs of the owners that evaluate them."""
