"""What a request may ask to be computed while it waits, and the budget for it."""
