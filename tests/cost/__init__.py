"""What one request may cost: the largest inputs that each route takes, against the real web server."""
