"""Modules that a worker of a test loads beside its own, so that it is unresponsive, slow or stopped."""
