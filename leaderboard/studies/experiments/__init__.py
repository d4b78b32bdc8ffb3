"""Studies with parameters that a reader chooses: started within limits, run by a worker, and shown on own pages."""
