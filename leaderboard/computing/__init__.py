"""Computations on arrays: for workers, and for the child processes that compute while a reader waits.

This package does not use Django: a child imports the engine and numpy, opens no database and reads no secret.
"""
