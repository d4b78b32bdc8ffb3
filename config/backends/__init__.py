"""What Django and Celery work with here: caches, the broker, static files, and bounds on the database."""
