"""Backends of Django and Celery: caches, the broker, static files, and bounds on the database."""
