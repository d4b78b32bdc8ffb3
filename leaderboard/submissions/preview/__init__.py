"""What a submission would change, shown before it counts."""
