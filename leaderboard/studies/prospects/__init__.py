"""Which systems could win under some weights of the tasks, and what it would take."""
