"""Included by a worker of `test_watchdog`: it connects to its broker, looks well, and never takes a message."""

from celery.signals import worker_ready

from jobs import caretaker, watchdog

caretaker.CHECK_SECONDS, watchdog.UNRESPONSIVE_SECONDS = 0.5, 2.0


@worker_ready.connect
def stop_taking(sender=None, **_signal):
    """As after a broken connection: the consumer is there, and nothing asks the broker for messages any more."""
    sender.task_consumer.cancel()
