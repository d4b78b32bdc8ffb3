"""What the API says of single instances."""
