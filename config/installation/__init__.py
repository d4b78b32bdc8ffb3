"""What makes a checkout ready to run: the packages of the lock, and what is known against them."""
