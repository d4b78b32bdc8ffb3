"""The version of the distribution; that of the figures is `ranking_engine.__version__`."""

__version__ = "0.1.0"
