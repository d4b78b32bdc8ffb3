"""Reading: what may be seen, and what stands where. Nothing here writes."""
