"""Preparing a checkout: the packages of the lock, and their known vulnerabilities."""
