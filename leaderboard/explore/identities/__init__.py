"""A model over all boards: the page of systems that their owners declared to be the same."""
