"""What the API says to a token of its own user."""
