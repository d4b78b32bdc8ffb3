"""Ranking rules for multi-task benchmarks, in numpy: no Django, no Celery, no I/O beyond reading a table."""
__version__ = "0.1.0"
