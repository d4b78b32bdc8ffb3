"""Figures made of arrays alone: for workers, and for the child processes that compute what a reader waits for.

Nothing in this package knows Django: a child imports the engine and numpy, opens no database and reads no secret.
"""
