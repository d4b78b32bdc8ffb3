"""What is computed in child processes."""
