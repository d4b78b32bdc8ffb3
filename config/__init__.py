"""How the site is put together: settings, the Celery application, the root of the URLs."""
